"""What the processes of a run reported to have happened, all of it, by the wall clock.

Counterpart: ``telemetry.live.window`` shows the newest of it while the run is live.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow.parquet as pq

from overlay.journal.facts import Event, Start
from overlay.journal.journal import read_journal
from telemetry.lake.runs import Lake, RunFiles


@dataclass(frozen=True, slots=True)
class Happening:
    """An event with its instant in Unix microseconds."""

    unix_us: int
    process: str
    name: str
    detail: dict[str, Any]


def happenings(files: RunFiles, lake: Lake) -> list[Happening]:
    """Every event of the run in order, from the lake once it is collected; empty for a run that left nothing."""
    zero_us = zero_unix_us(files)
    found = (Happening(zero_us + one.at_us, one.process, one.name, one.detail) for one in events(files, lake))
    return sorted(found, key=lambda one: one.unix_us)


def zero_unix_us(files: RunFiles) -> int:
    """The instant that a run's times count from; its manifest tells it of a run whose journals were removed."""
    told = next((start.zero_unix_us for start in _starts(files)), None)
    return int(files.read_manifest().get("zero_unix_us") or 0) if told is None else told


def events(files: RunFiles, lake: Lake) -> list[Event]:
    """The same in time since the run's zero, in no order."""
    return list(_collected(files.run, lake) if lake.holds(files.run) else _journaled(files))


def _starts(files: RunFiles) -> Iterator[Start]:
    for path in files.journals():
        first = next(iter(read_journal(path)), None)
        if isinstance(first, Start):
            yield first


def _collected(run: str, lake: Lake) -> Iterator[Event]:
    for row in pq.read_table(lake.part("events", run), partitioning=None).to_pylist():
        yield Event(**{**row, "detail": json.loads(row["detail"])})


def _journaled(files: RunFiles) -> Iterator[Event]:
    for path in files.journals():
        yield from (fact for fact in read_journal(path) if isinstance(fact, Event))
