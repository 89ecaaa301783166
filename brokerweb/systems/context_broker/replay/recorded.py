"""The messages of a recorded run, as REST gives them and the replay page draws them."""

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
    """What a slider over the run shows; ``None`` of a run that was not recorded, or not collected yet."""
    return messages.overview(path_of(run))


def path_of(run: Run) -> Path:
    """Where its messages are, if it has any."""
    return RunFiles(settings.RUNS / run.pk).messages_path


def marks(run: Run, names: Mapping[str, int]) -> list[Mark]:
    """Those of the run's charts; ``names`` are the brokers' indices by address."""
    telemetry = telemetry_of(run.configuration)
    words = EventWords(telemetry, Servers.of(run.configuration, telemetry.system), names)
    return marks_of(history.events(RunFiles(settings.RUNS / run.pk), Lake(settings.LAKE)), words)


def page(
    run: Run, from_us: int, to_us: int, query: str | None, offset: int, limit: int
) -> tuple[int, list[dict[str, Any]]]:
    """How many messages were sent in that time, and a part of them in their order."""
    count, rows = messages.between(path_of(run), from_us, to_us, query, offset, limit)
    return count, [_shown(row) for row in rows]


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    kind, family = messages.kind_of(row["code"])
    ends = {end: row[end] if row[end] >= 0 else None for end in ("sender", "receiver")}
    return {**row, **ends, "kind": kind, "family": family}
