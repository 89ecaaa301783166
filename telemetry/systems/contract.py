"""What telemetry asks of a system beyond what it measures of every system. Counterpart: ``overlay.systems.contract``.

Every run has requests with outcomes and response times, ticks with counters, memory and processor time, and events. A
system may add: the truth of each answer, traces of single requests, what servers held at the end, and figures of these.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar, Protocol

import pyarrow as pa

from overlay.journal.facts import Event, Holdings, Start, Tick, Trace
from overlay.systems.contract import System
from telemetry.charts.charts import Chart
from telemetry.errors import TelemetryError
from telemetry.lake.records import FOUND, SOME
from telemetry.lake.runs import RunFiles
from telemetry.measures import Measure
from telemetry.studies.study import Study


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


@dataclass(frozen=True, slots=True)
class Command:
    """A command of ``python -m telemetry`` that a system adds."""

    name: str
    help: str
    add_flags: Callable[[ArgumentParser], None]
    run: Callable[[Namespace, Callable[[str], None], datetime], Iterable[object]]
    """Given the flags, where to say how far it is, and the time; each line of its output as soon as it is known.

    Raises ``WaxwingError``.
    """
    needs_data: bool = False
    """Whether it has ``--var``, the directory for data."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """What was counted on the links of a run, and how often between each two servers, the lower index first."""

    what: str
    """In words: ``messages``."""
    counts: Mapping[tuple[int, int], int]


@dataclass(frozen=True, slots=True)
class Wording:
    """An event in words. ``{who}`` is the process, ``{other}`` its neighbour; ``{reason}`` and ``{limit}``: details."""

    one: str
    """Of one process."""
    many: str
    """Of several at about the same time; empty: each is worded alone."""
    label: str = ""
    """Next to a mark on charts; empty: there is no mark."""
    family: str = "other"
    """By which the timeline is filtered: ``phase``, ``fault``, ``process``, ``neighbour``, ``limit`` or ``other``."""
    is_loss: bool = False
    """Whether ``{other}`` is gone. Charts mark the first such event of each neighbour, and the first after it that is
    no loss."""


@dataclass(frozen=True, slots=True)
class Counters:
    """Which counters of a server's ticks pages show while it runs. Every server has ``in_*`` and ``out_*`` as well."""

    load: tuple[str, ...] = ()
    """Messages whose rate, added up, is a server's load; empty: all that it received."""
    load_help: str = "all messages that arrived"
    """In words, what ``load`` counts."""
    rates: tuple[str, ...] = ()
    """Others that are shown per second."""
    gauges: tuple[str, ...] = ()
    """Those that say how much there is now."""
    totals: Mapping[str, str] = field(default_factory=dict)
    """Gauges that are added up over all servers, and the title of each sum."""


class Telemetry:
    """One system. A subclass overrides what it adds; this one adds nothing."""

    measures: ClassVar[tuple[Measure, ...]] = ()
    """What a run is measured by, in addition to ``telemetry.measures.COMMON``."""
    studies: ClassVar[tuple[Study, ...]] = ()
    """Its published figures and other questions, in the order of lists."""
    wordings: ClassVar[Mapping[str, Wording]] = {}
    """Its events in words, by the event's name. Phases, faults and processes have theirs in ``telemetry.live``."""
    limits: ClassVar[Mapping[str, str]] = {}
    """By the detail ``limit`` of an event, what was limited, in words."""
    counters: ClassVar[Counters] = Counters()

    def __init__(self, system: System) -> None:
        self.system = system

    def commands(self) -> Sequence[Command]:
        return ()

    def capture(self, files: RunFiles) -> Iterator[bytes]:
        """All messages of a recorded run as pcapng, in pieces. Raises ``TelemetryError`` before the first."""
        raise TelemetryError(f"Captures of {self.system.name} are not written.")

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

    def traffic(self, files: RunFiles) -> Traffic | None:
        """What went over the links of a run that has ended; ``None`` where nothing was written down."""
        return None

    def same_published(self, kind: str, brokers: int, workload: Mapping[str, Any]) -> Mapping[str, float] | None:
        """By measure, in its unit, what was published of this very configuration; ``None`` where it was not."""
        return None

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
