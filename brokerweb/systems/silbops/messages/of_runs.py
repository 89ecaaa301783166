"""The publications of a run as JSON: their list, and one publication's way. The pages show the same (``views``)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from django.conf import settings

from brokerweb.experiments.models import Run
from brokerweb.systems.contract import Rows
from telemetry.lake.runs import Lake, RunFiles
from telemetry.systems.silbops import messages, way_files
from telemetry.systems.silbops.objections import Against
from telemetry.systems.silbops.ways import Way

INTERNAL = frozenset(("about",))
"""Columns that only join tables."""


def files(run: Run) -> RunFiles:
    return RunFiles(settings.RUNS / run.pk)


def listed(run: Run, chosen: Mapping[str, str], offset: int, limit: int) -> Rows:
    """Raises ``InvalidSetting``, as ``messages.listed``."""
    count, rows = messages.listed(files(run), Lake(settings.LAKE), chosen, offset, limit)
    return Rows(count, [_shown(row) for row in rows])


def way_of(run: Run, message: str) -> Way | None:
    return way_files.find(files(run), Lake(settings.LAKE), message)


def without(run: Run, way: Way) -> list[Against] | None:
    """As ``way_files.without``; none of a publication that was refused."""
    return [] if way.row["outcome"] == "refused" else way_files.without(way, Lake(settings.LAKE), run.pk)


def found(run: Run, message: str) -> dict[str, Any] | None:
    """One publication: its content, steps of brokers, messages between participants, and its deliveries."""
    way = way_of(run, message)
    if way is None:
        return None
    records = way.records
    sent = [
        {name: value for name, value in asdict(one).items() if name not in ("code", "passage")} for one in way.messages
    ]
    against = without(run, way)
    return {
        **_shown(way.row),
        "sent_us": records.sent_us,
        "notification": records.notification,
        "context": records.context,
        "scope": records.scope,
        "steps": [one._asdict() for one in way.steps],
        "messages": sent,
        "deliveries": [one._asdict() for one in records.deliveries],
        "without": None if against is None else [one._asdict() for one in against],
    }


def _shown(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in INTERNAL}
