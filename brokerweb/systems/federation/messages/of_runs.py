"""The messages of a run as JSON: their list, and one message's way. The pages show the same (``views``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from django.conf import settings

from brokerweb.experiments.models import Run
from brokerweb.systems.contract import Rows
from telemetry.lake.runs import Lake, RunFiles
from telemetry.systems.federation import messages, way_files
from telemetry.systems.federation.ways import Way


def files(run: Run) -> RunFiles:
    return RunFiles(settings.RUNS / run.pk)


def listed(run: Run, chosen: Mapping[str, str], offset: int, limit: int) -> Rows:
    """Raises ``InvalidSetting``, as ``messages.listed``."""
    return Rows(*messages.listed(files(run), chosen, offset, limit))


def way_of(run: Run, message: str) -> Way | None:
    return way_files.find(files(run), Lake(settings.LAKE), message)


def found(run: Run, message: str) -> dict[str, Any] | None:
    """One message, the steps of brokers, the messages between participants, and its deliveries."""
    way = way_of(run, message)
    if way is None:
        return None
    sent = [
        {name: value for name, value in asdict(one).items() if name not in ("code", "passage")} for one in way.messages
    ]
    return {
        **way.row,
        "sent_us": way.records.sent_us,
        "scopes": way.scopes,
        "steps": [{**one._asdict(), "waited_us": one.waited_us} for one in way.steps],
        "messages": sent,
        "deliveries": [one._asdict() for one in way.records.deliveries],
    }
