"""Messages of a recorded run, for REST and the replay page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings

from brokerweb.experiments.models import Run
from telemetry.lake import history
from telemetry.lake.runs import Lake, RunFiles
from telemetry.live.event_words import EventWords
from telemetry.live.marks import Mark, marks_of
from telemetry.summary.processes import Servers
from telemetry.systems.context_broker import messages
from telemetry.systems.context_broker.messages import Overview
from telemetry.systems.registry import telemetry_of


def overview(run: Run) -> Overview | None:
    """The data of the replay's slider; ``None`` if the run is not recorded or not collected."""
    return messages.overview(path_of(run))


def path_of(run: Run) -> Path:
    """The file of its messages, if any."""
    return RunFiles(settings.RUNS / run.pk).messages_path


def marks(run: Run, names: Mapping[str, int]) -> list[Mark]:
    """Event markers of the run's charts; ``names`` maps addresses to broker indices."""
    telemetry = telemetry_of(run.configuration)
    words = EventWords(telemetry, Servers.of(run.configuration, telemetry.system), names)
    return marks_of(history.events(RunFiles(settings.RUNS / run.pk), Lake(settings.LAKE)), words)


def page(
    run: Run, from_us: int, to_us: int, query: str | None, offset: int, limit: int
) -> tuple[int, list[dict[str, Any]]]:
    """Number of messages in a time range, and one page of them."""
    count, rows = messages.between(path_of(run), from_us, to_us, query, offset, limit)
    return count, [_shown(row) for row in rows]


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    kind, family = messages.kind_of(row["code"])
    ends = {end: row[end] if row[end] >= 0 else None for end in ("sender", "receiver")}
    return {**row, **ends, "kind": kind, "family": family}
