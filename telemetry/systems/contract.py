"""What telemetry asks of a system beyond what it measures of every system. Counterpart: ``overlay.systems.contract``.

Every run has requests with outcomes and response times, ticks with counters, memory and processor time, and events. A
system may add: the truth of each answer, traces of single requests, what servers held at the end, and figures of these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import pyarrow as pa

from overlay.journal.facts import Event, Holdings, Start, Tick, Trace
from overlay.systems.contract import System
from telemetry.charts.charts import Chart
from telemetry.lake.records import FOUND, SOME
from telemetry.lake.runs import RunFiles


class Traces(Protocol):
    """Where the traces of a run are gathered while its journals are read."""

    def add(self, trace: Trace) -> None: ...
    def add_start(self, start: Start) -> None: ...


class NoTraces:
    """Of a system that traces nothing."""

    def add(self, trace: Trace) -> None:
        pass

    def add_start(self, start: Start) -> None:
        pass


@dataclass(slots=True)
class Journalled:
    """All facts of a run's journals but its samples, which are columns."""

    traces: Traces = field(default_factory=NoTraces)
    ticks: list[Tick] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    starts: list[Start] = field(default_factory=list)
    holdings: list[Holdings] = field(default_factory=list)
    of_clients: dict[str, list[Any]] = field(default_factory=lambda: {table: [] for table in SOME})
    """By the lake's table: deliveries, connections and hand-overs."""
    lost: list[str] = field(default_factory=list)
    """One sentence per journal of which something is missing."""

    @property
    def zero_unix_us(self) -> int:
        return self.starts[0].zero_unix_us if self.starts else 0


class Telemetry:
    """One system. A subclass overrides what it adds; this one adds nothing."""

    def __init__(self, system: System) -> None:
        self.system = system

    def make_traces(self) -> Traces:
        return NoTraces()

    def judged(self, samples: pa.Table, manifest: Mapping[str, Any], journalled: Journalled) -> pa.Table:
        """``samples`` with the columns of ``records.FOUND``: what each request was worth, ``null`` where unknown."""
        for column in FOUND["samples"]:
            samples = samples.append_column(column, pa.nulls(samples.num_rows, column.type))
        return samples

    def verdicts(self, table: str, rows: pa.Table, manifest: Mapping[str, Any], journalled: Journalled) -> pa.Array:
        """What each row of ``deliveries``, ``connections`` or ``handovers`` was worth, in a word; ``null``: unknown."""
        return pa.nulls(rows.num_rows, pa.string())

    def of_requests(self, requests: pa.Table, zero_unix_us: int) -> dict[str, Any]:
        """Further figures of the requests of measuring, for the run's summary."""
        return {}

    def finish(
        self, files: RunFiles, samples: pa.Table, journalled: Journalled, summary: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Write further files of a run that ended; further figures for its summary."""
        return {}

    def read_more(self, files: RunFiles) -> Sequence[str]:
        """Before it is summed up: write what else was recorded; a sentence for each thing that could not be read."""
        return ()

    def nearest_published(
        self, kind: str, brokers: int, workload: Mapping[str, Any]
    ) -> tuple[dict[str, Any], Sequence[str]] | None:
        """The published configuration nearest to one, with its figures, and the factors in which they differ."""
        return None

    def figures(self, rows: Sequence[Mapping[str, Any]]) -> Sequence[Chart]:
        """Charts of a report's configurations, drawn as the system's paper draws them."""
        return ()

    def due(self, manifest: Mapping[str, Any]) -> Mapping[str, int] | None:
        """How many exchanges of each role were due while measuring; ``None`` where that is not known."""
        return None
