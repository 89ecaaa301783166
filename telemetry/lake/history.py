"""All events reported by the processes of a run, by wall clock.

Counterpart: ``telemetry.live.window`` shows the newest events while the run is in progress.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from overlay.journal.facts import Event, Start
from overlay.journal.journal import read_journal
from telemetry.lake.parquet import read_table
from telemetry.lake.runs import Lake, RunFiles


@dataclass(frozen=True, slots=True)
class Happening:
    """An event with its time in Unix microseconds."""

    unix_us: int
    process: str
    name: str
    detail: dict[str, Any]


def happenings(files: RunFiles, lake: Lake) -> list[Happening]:
    """All events of the run in order, from the lake if it has been collected; empty for a run without files.

    Raises ``StorageError`` if the lake's file is damaged.
    """
    zero_us = zero_unix_us(files)
    found = (Happening(zero_us + one.at_us, one.process, one.name, one.detail) for one in events(files, lake))
    return sorted(found, key=lambda one: one.unix_us)


def zero_unix_us(files: RunFiles) -> int:
    """The origin of a run's times, from its manifest if its journals were deleted."""
    told = next((start.zero_unix_us for start in _starts(files)), None)
    return int(files.read_manifest().get("zero_unix_us") or 0) if told is None else told


def events(files: RunFiles, lake: Lake) -> list[Event]:
    """The same with times since the run's zero, unordered."""
    return list(_collected(files.run, lake) if lake.holds(files.run) else _journaled(files))


def _starts(files: RunFiles) -> Iterator[Start]:
    for path in files.journals():
        first = next(iter(read_journal(path)), None)
        if isinstance(first, Start):
            yield first


def _collected(run: str, lake: Lake) -> Iterator[Event]:
    for row in read_table(lake.part("events", run)).to_pylist():
        yield Event(**{**row, "detail": json.loads(row["detail"])})


def _journaled(files: RunFiles) -> Iterator[Event]:
    for path in files.journals():
        yield from (fact for fact in read_journal(path) if isinstance(fact, Event))
