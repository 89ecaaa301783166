"""What the map of a run shows, for its page and for REST."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from django.conf import settings

from brokerweb.experiments.models import Run
from overlay.core.errors import InvalidSetting
from overlay.systems.contextnet.load.draws import region_name
from overlay.systems.contextnet.system import SYSTEM
from telemetry.lake.runs import Lake
from telemetry.systems.contextnet.movements import Movements, movements

LONGEST_S = 86_400.0


def drives(run: Run) -> bool:
    """Whether its nodes drive."""
    return bool(SYSTEM.read_workload(run.configuration["workload"]).square_km)


def found(run: Run, from_s: float) -> Movements | None:
    """``None`` before the run is collected, and if its nodes do not drive."""
    return None if not drives(run) else movements(Lake(settings.LAKE), run.pk, from_s)


def body(run: Run, one: Movements) -> dict[str, Any]:
    """``Movements`` as JSON, with the size of the map and its regions."""
    workload = SYSTEM.read_workload(run.configuration["workload"])
    casts = [{**asdict(cast), "name": region_name(cast.region, workload.regions_across)} for cast in one.casts]
    return {**asdict(one), "side_km": workload.square_km, "across": workload.regions_across, "casts": casts}


def from_s(parameters: Mapping[str, str]) -> float:
    """Where the window begins. Raises ``InvalidSetting``."""
    text = parameters.get("from_s", "").strip() or "0"
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= LONGEST_S:
        raise InvalidSetting("from_s", f"must be a number of seconds from 0 to {LONGEST_S:,.0f}, not {text!r:.40}")
    return value
