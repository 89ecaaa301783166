"""What the map of a run shows, for its page and for REST."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from django.conf import settings

from brokerweb.experiments.models import Run
from overlay.core.errors import InvalidSetting
from overlay.systems.silbops.system import SYSTEM
from telemetry.lake.runs import Lake
from telemetry.systems.silbops.movements import Movements, movements

LONGEST_S = 86_400.0


def found(run: Run, from_s: float) -> Movements | None:
    return movements(Lake(settings.LAKE), run.pk, from_s)


def body(run: Run, one: Movements) -> dict[str, Any]:
    """``Movements`` as JSON, with the size of the map and of the squares, and the arm."""
    workload = SYSTEM.read_workload(run.configuration["workload"])
    return {
        "arm": SYSTEM.whole(run.configuration["settings"])["arm"],
        "side_km": workload.square_km,
        "radius_km": workload.radius_km,
        **asdict(one),
    }


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
