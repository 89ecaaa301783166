"""Messages of a recorded run, for REST."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings

from brokerweb.experiments.models import Run
from telemetry.lake.runs import RunFiles
from telemetry.systems.context_broker import messages


def path_of(run: Run) -> Path:
    """The file of its messages, if any."""
    return RunFiles(settings.RUNS / run.pk).messages_path


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
