"""The telemetry of a system, in addition to that of every system. Counterpart: ``overlay.systems.contract``.

Every run has ticks with counters, memory and processor time, and events. It has exchanges with outcomes and response
times, deliveries, connections and hand-overs, as far as its clients report them. A system can add verdicts on these,
tables of its own, traces of single requests, the final content of servers, figures, and reasons why a run is suspect.

After a run, ``telemetry.collect`` calls, in this order: ``make_traces`` before journals are read, ``judged`` and
``resolved`` before rows are stored, ``read_more``, then for the summary ``of_requests``, ``due`` and ``reasons``, and
``finish``. Pages and reports call the others, and ``telemetry.live`` reads ``wordings``, ``counters`` and ``series``
while a run lasts. Times ``at_us`` are µs since the zero of the deployment, as in ``overlay.journal.facts``. A
``manifest`` has ``system``, ``engine``, ``topology``, ``settings``, ``workload``, ``schedule``, ``seed``; of a
collected run, ``summary``.
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
from telemetry.calibration.plan import Plan
from telemetry.charts.charts import Chart
from telemetry.charts.live import KEY_FIGURES, SERIES, KeyFigure, LiveChart
from telemetry.errors import TelemetryError
from telemetry.lake.records import FOUND
from telemetry.lake.runs import RunFiles
from telemetry.measures import Measure, Words
from telemetry.studies.study import Study


class Traces(Protocol):
    """Collects the traces of a run while its journals are read, one after another, for ``Telemetry.finish``."""

    def add(self, trace: Trace) -> None: ...
    def add_start(self, start: Start) -> None:
        """A process of the journal read last; a restarted process has several."""
        ...


class NoTraces:
    """For systems without traces."""

    def add(self, trace: Trace) -> None:
        pass

    def add_start(self, start: Start) -> None:
        pass


@dataclass(slots=True)
class Journalled:
    """All facts of a run's journals."""

    traces: Traces = field(default_factory=NoTraces)
    ticks: list[Tick] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    starts: list[Start] = field(default_factory=list)
    holdings: list[Holdings] = field(default_factory=list)
    tables: dict[str, pa.Table] = field(default_factory=dict)
    """Samples, deliveries, connections and hand-overs, by the lake's table. Text is in dictionaries."""
    own: dict[str, pa.Table] = field(default_factory=dict)
    """The tables of ``Telemetry.tables``."""
    lost: list[str] = field(default_factory=list)
    """One sentence per incomplete journal or table."""

    @property
    def zero_unix_us(self) -> int:
        """The wall clock at the zero of ``at_us``, Unix µs; 0 without any journal."""
        return self.starts[0].zero_unix_us if self.starts else 0


@dataclass(frozen=True, slots=True)
class Command:
    """A command of ``python -m telemetry`` added by a system."""

    name: str
    help: str
    add_flags: Callable[[ArgumentParser], None]
    run: Callable[[Namespace, Callable[[str], None], datetime], Iterable[object]]
    """Called with the flags, a function for progress messages, and the time. Yields its lines of output.

    Raises ``WaxwingError``.
    """


@dataclass(frozen=True, slots=True)
class Traffic:
    """Counts on the links of a run, by pair of servers, the lower index first."""

    what: str
    """The unit in words: ``messages``."""
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
    """The counters of a server's ticks on pages. Every server also has ``in_*`` and ``out_*``."""

    load: tuple[str, ...] = ()
    """Messages whose total rate is a server's load; empty: all received messages."""
    load_help: str = "all messages that arrived"
    """A description of ``load``."""
    rates: tuple[str, ...] = ()
    """Further counters, shown per second."""
    gauges: tuple[str, ...] = ()
    """Gauges, shown as current values."""
    totals: Mapping[str, str] = field(default_factory=dict)
    """Gauges summed over all servers, with the title of each sum."""
    hops: tuple[str, ...] = ()
    """Counters whose sum is the hops of all queries in ``answers``."""
    answers: tuple[str, ...] = ()
    """Counters of answered queries; empty: its servers do not count them."""


class Telemetry:
    """The telemetry of a system. Subclasses override methods; this class adds nothing."""

    measures: ClassVar[tuple[Measure, ...]] = ()
    """Measures in addition to ``telemetry.measures.COMMON``."""
    common_words: ClassVar[Mapping[str, Words]] = {}
    """What common measures are called in its runs, by name; the others keep their words."""
    studies: ClassVar[tuple[Study, ...]] = ()
    """Its published figures and other questions, in the order of lists."""
    wordings: ClassVar[Mapping[str, Wording]] = {}
    """Words for its events, by name. Those of phases, faults and processes are in ``telemetry.live``."""
    limits: ClassVar[Mapping[str, str]] = {}
    """Words for the detail ``limit`` of events."""
    counters: ClassVar[Counters] = Counters()
    tables: ClassVar[Mapping[str, type]] = {}
    """Its own tables by name, each with a dataclass of its columns: ``int``, ``float``, ``bool``, ``str``, each also
    ``| None``, ``list[int]`` and ``list[str]``. ``facts.Row`` is a row of one. The lake has them as ``SYSTEM.table``,
    with the columns ``process`` and ``at_us`` first."""
    series: ClassVar[tuple[LiveChart, ...]] = SERIES
    """The charts of a run's page, while it runs and afterwards."""
    network_series: ClassVar[tuple[LiveChart, ...]] = ()
    """Charts over time of a network's page, behind those of every network. Their columns are of ``counters.gauges``;
    of all servers together, their sum is drawn."""
    key_figures: ClassVar[tuple[KeyFigure, ...]] = KEY_FIGURES
    """The measures at the head of a run's page, in order."""
    list_figures: ClassVar[tuple[str, ...]] = ()
    """The measures in lists of runs; empty: the first three key figures."""
    sweep_figures: ClassVar[tuple[str, ...]] = ()
    """The measures in the home page's table of the latest sweep; empty: the main key figures."""
    first_figure: ClassVar[str] = ""
    """The measure of an experiment's chart, and of a comparison that names none; empty: the first key figure."""

    published_in: ClassVar[str] = ""
    """Where its published values are from, such as ``Table 2``."""
    published_note: ClassVar[str] = ""
    """A sentence below charts with published values."""

    def __init__(self, system: System) -> None:
        self.system = system

    @property
    def main_figures(self) -> tuple[str, ...]:
        """The measures of the main key figures."""
        return tuple(one.measure for one in self.key_figures if one.is_main)

    def commands(self) -> Sequence[Command]:
        """Its commands of ``python -m telemetry``."""
        return ()

    def calibration(self) -> Plan | None:
        """How its costs are measured; ``None`` if simulated runs have the default costs."""
        return None

    def capture(self, files: RunFiles) -> Iterator[bytes]:
        """All messages of a recorded run as pcapng, in pieces. Raises ``TelemetryError`` before the first."""
        raise TelemetryError(f"{self.system.name} does not support captures.")

    def make_traces(self) -> Traces:
        """Collects its ``Trace`` facts; afterwards ``Journalled.traces``."""
        return NoTraces()

    def judged(self, samples: pa.Table, manifest: Mapping[str, Any], journalled: Journalled) -> pa.Table:
        """``samples`` with the columns of ``records.FOUND``: the verdict on each request, ``null`` if unknown."""
        for column in FOUND["samples"]:
            samples = samples.append_column(column, pa.nulls(samples.num_rows, column.type))
        return samples

    def resolved(self, table: str, rows: pa.Table, manifest: Mapping[str, Any], journalled: Journalled) -> pa.Table:
        """The rows of ``deliveries``, ``connections`` or ``handovers`` as the summary counts them and the lake stores
        them: with a column ``verdict`` if there are verdicts, with values corrected, or with rows left out."""
        return rows

    def of_requests(self, requests: pa.Table, zero_unix_us: int) -> dict[str, Any]:
        """Further figures of the requests in measuring (rows of ``samples``, as judged), for the run's summary."""
        return {}

    def finish(
        self, files: RunFiles, samples: pa.Table, journalled: Journalled, summary: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Write further files of a completed run. Returns further figures for its summary."""
        return {}

    def reasons(self, journalled: Journalled, summary: Mapping[str, Any]) -> Sequence[str]:
        """Further reasons why a run is suspect, as sentences; ``summary`` is without its verdict."""
        return ()

    def read_more(self, files: RunFiles) -> Sequence[str]:
        """Write further recorded data before the summary. Returns a sentence for each file that could not be read."""
        return ()

    def traffic(self, files: RunFiles) -> Traffic | None:
        """The traffic on the links of a completed run; ``None`` if it was not recorded."""
        return None

    def same_published(self, configuration: Mapping[str, Any]) -> Mapping[str, float] | None:
        """The published values of exactly this configuration, by measure; ``None`` if there are none.

        ``configuration`` is ``ChosenRun.configuration``.
        """
        return None

    def nearest_published(self, configuration: Mapping[str, Any]) -> tuple[dict[str, Any], Sequence[str]] | None:
        """The closest published configuration, its figures, and the factors in which they differ; ``None`` without
        any."""
        return None

    def figures(self, rows: Sequence[Mapping[str, Any]]) -> Sequence[Chart]:
        """Charts of a report's configurations, in the style of the system's paper."""
        return ()

    def due(self, manifest: Mapping[str, Any]) -> Mapping[str, int] | None:
        """The number of exchanges of each role due in measuring; a run with fewer samples is suspect. ``None`` if
        unknown: then those that its clients began are due."""
        return None
