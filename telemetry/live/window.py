"""The data of the live page: a complete snapshot of a run, from the ticks and events written so far.

Counterparts: ``overlay.journal.journal.JournalTail`` reads; ``telemetry.collect`` computes the same from samples after
the run, and a test compares both on one journal. A window opened late reads from the beginning, so it shows
the same as an early one. Memory is limited: 600 points, 50 events, few markers, and a few seconds of contributions.

Ticks do not separate the requests of measuring from the last ones of warming. This window counts requests that *ended*
after the start of measuring, while the summary counts those *intended* in it.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from overlay.deployment.phases import WARMING
from overlay.journal.counters import growth
from overlay.journal.facts import ALL_BROKERS, CLIENT_GAUGES, OUTCOMES, Event, Histogram, Start, Tick
from overlay.journal.journal import JournalTail
from overlay.systems.contract import System
from telemetry.lake.runs import RunFiles
from telemetry.lake.storage import plain
from telemetry.live.event_words import EventWords
from telemetry.live.loads import ServerLoad, totals
from telemetry.live.marks import Marks
from telemetry.live.measured import Contribution, Totals
from telemetry.statistics import histograms
from telemetry.statistics.metrics import answer_ratio, outcome_counts, rate
from telemetry.summary import processes
from telemetry.summary.schedule import AFTER_MEASURING
from telemetry.summary.series import SECOND_US, Series
from telemetry.systems.registry import telemetry_of

EVENTS = 50
"""Number of newest events in a snapshot, and of newest events with markers, independent of all others."""
UNDECIDED = 4_096
"""Contributions kept until the start of measuring is known: a minute of 64 processes; a second would suffice."""
EARLY = 8
"""Ticks of each broker kept until the start of the clients is known."""
LEEWAY_US = SECOND_US // 2
"""Maximum difference of two processes' ticks for the same second."""

_RATES = (*OUTCOMES, "updates")
"""Counters whose rates are charted over time."""


class LiveWindow:
    """Follows the journals of one run. ``advance`` reads new facts and returns a complete snapshot."""

    def __init__(self, files: RunFiles) -> None:
        self._files = files
        manifest = files.read_manifest()
        self.has_manifest = bool(manifest)
        """Without one, it takes the run for one of the first system: a run begins before its manifest is written."""
        telemetry = telemetry_of(manifest)
        self._system, self._counters = telemetry.system, telemetry.counters
        lines = [line for chart in telemetry.series for view in chart.views for line in view.lines if line.of]
        self._lines = lines
        self._counted = {line.of for line in lines if line.how == "rate"}
        self._gauges = {line.of for line in lines if line.how == "total"}
        self._servers = processes.Servers.of(manifest, self._system)
        self._names: dict[str, int] = {}
        """The index of the server that has an address."""
        self._words = EventWords(telemetry, self._servers, self._names)
        self._tails: dict[Path, JournalTail] = {}
        self._seq = 0
        self._last: dict[str, Tick] = {}
        self._early: dict[str, deque[Tick]] = {}
        self._clients_began_us: int | None = None
        self._loads: dict[str, ServerLoad] = {}
        self._phase = ""
        self._measured_since_us: int | None = None
        self._measured_until_us: int | None = None
        self._events: deque[Event] = deque(maxlen=EVENTS)
        self._marked: deque[Event] = deque(maxlen=EVENTS)
        self._marks = Marks(self._words)
        self._undecided: deque[Contribution] = deque(maxlen=UNDECIDED)
        self._totals = Totals()
        self._series = Series()

    def advance(self) -> dict[str, Any]:
        """Read new facts and return the snapshot. Times in s or µs, sizes in bytes."""
        for fact in sorted(self._read(), key=lambda fact: fact.at_us):
            if isinstance(fact, Tick):
                self._take_tick(fact)
            elif isinstance(fact, Histogram):
                self._take_histogram(fact)
            else:
                self._take_event(fact)
        self._seq += 1
        return self._snapshot()

    def _read(self) -> Iterator[Any]:
        for path in self._files.journals():
            if path not in self._tails:
                self._tails[path] = JournalTail(path, (Start, Tick, Event, Histogram))
            for fact in self._tails[path].read_new():
                if isinstance(fact, Start):
                    self._take_start(fact)
                else:
                    yield fact

    def _take_start(self, start: Start) -> None:
        index = self._servers.index(start.process)
        if index is not None and start.address:
            self._names[start.address] = index

    def _take_event(self, event: Event) -> None:
        (self._marked if self._words.is_marked(event.name, event.detail) else self._events).append(event)
        self._marks.take(event)
        if event.name != "phase":
            return
        self._phase = str(event.detail.get("phase", ""))
        if self._phase == WARMING and self._system.has_receivers:
            self._clients_began_us = event.at_us
        if self._phase == "measuring":
            self._totals = Totals(event.at_us)
            for contribution in self._undecided:
                self._totals.add(contribution)
            self._measured_since_us = event.at_us
            for load in self._loads.values():
                load.measuring_began(event.at_us)
        elif self._measured_until_us is None and self._phase in AFTER_MEASURING:
            self._measured_until_us = event.at_us
            for load in self._loads.values():
                load.measuring_ended(event.at_us)

    def _take_tick(self, tick: Tick) -> None:
        before = self._last.get(tick.process)
        self._last[tick.process] = tick
        grown = _grown(before, tick, self._system)
        if self._lines:
            self._take_declared(tick, grown)
        if self._servers.index(tick.process) is not None:
            self._take_broker(before, tick, grown)
            self._take_processor("broker_cores", before, tick)
        elif self._servers.is_fleet(tick.process):
            self._take_generator(tick, grown)
            self._take_processor("client_cores", before, tick)
        elif tick.process == ALL_BROKERS:
            self._take_processor("broker_cores", before, tick)

    def _take_histogram(self, found: Histogram) -> None:
        times = histograms.unpacked(found.times)
        contribution = Contribution(found.at_us, False, times, {}, found.name)
        self._undecided.append(contribution)
        self._totals.add(contribution)
        self._series.at(found.at_us).times.setdefault(found.name, Counter()).update(times)

    def _take_declared(self, tick: Tick, grown: dict[str, int]) -> None:
        """The counters and gauges of the charts that the system declared."""
        bucket = self._series.at(tick.at_us)
        bucket.grown.update({name: grown[name] for name in self._counted & grown.keys()})
        for name in self._gauges & tick.counters.keys():
            bucket.gauges.setdefault(name, {})[tick.process] = tick.counters[name]

    def _take_processor(self, column: str, before: Tick | None, tick: Tick) -> None:
        """A restarted process has no data for the second of its restart."""
        if before is not None and tick.at_us > before.at_us and tick.cpu_us >= before.cpu_us > 0:
            used_us, elapsed_us = tick.cpu_us - before.cpu_us, tick.at_us - before.at_us
            self._series.at(tick.at_us).use(column, tick.process, used_us, elapsed_us)

    def _take_broker(self, before: Tick | None, tick: Tick, grown: dict[str, int]) -> None:
        self._series.at(tick.at_us).memory[tick.process] = processes.memory_of(tick)
        if self._clients_began_us is None:
            self._early.setdefault(tick.process, deque(maxlen=EARLY)).append(tick)
        if tick.process not in self._loads:
            self._loads[tick.process] = ServerLoad(self._counters, self._measured_since_us)
        self._loads[tick.process].take(before, tick, grown)

    def _take_generator(self, tick: Tick, grown: dict[str, int]) -> None:
        is_update = not self._system.asks(tick.process)
        outcomes = {name: grown.get(name, 0) for name in OUTCOMES}
        contribution = Contribution(tick.at_us, is_update, histograms.unpacked(tick.histogram), outcomes)
        self._undecided.append(contribution)
        self._totals.add(contribution)
        if tick.counters.get("requests") and not self._system.has_receivers:
            began_us = tick.at_us - SECOND_US
            self._clients_began_us = min(began_us, self._clients_began_us or began_us)
        bucket = self._series.at(tick.at_us)
        if not is_update:
            bucket.counts.update(outcomes)
            bucket.response_us.update(contribution.response_us)
        else:
            bucket.counts.update({"updates": outcomes["answered"]})

    def _snapshot(self) -> dict[str, Any]:
        totals = self._totals
        duration_us = totals.duration_us(self._measured_until_us)
        newest = max((tick.at_us for tick in self._last.values()), default=0)
        events = [
            {
                "t_s": event.at_us / SECOND_US,
                "process": event.process,
                "name": event.name,
                "detail": plain(event.detail),
            }
            for event in sorted((*self._events, *self._marked), key=lambda event: event.at_us)
        ]
        return {
            "seq": self._seq,
            "t_s": newest / SECOND_US,
            "phase": self._phase,
            "since_s": totals.since_us / SECOND_US,
            "latency": histograms.spread(totals.response_us),
            "throughput": {
                "requests_per_s": rate(totals.outcomes.total(), duration_us),
                "answered_per_s": rate(totals.outcomes["answered"], duration_us),
                "updates_per_s": rate(totals.updates["answered"], duration_us),
            },
            "outcomes": outcome_counts(totals.outcomes),
            "answer_ratio": answer_ratio(totals.outcomes),
            "updates": outcome_counts(totals.updates),
            "memory": self._memory(),
            "load": {"brokers": [{"index": index, **self._loads[name].told()} for index, name in self._brokers()]},
            "totals": self._all_brokers(),
            **({"histograms": times} if (times := self._times()) else {}),
            "events": events,
            "happened": self._words.happened(events),
            "marks": self._marks.shown(newest / SECOND_US),
            "series": {"step_s": self._series.step_s, **self._columns()},
            "unreadable_bytes": sum(tail.bad_bytes for tail in self._tails.values()),
        }

    def _times(self) -> dict[str, Any]:
        """The durations of each named histogram since the start of measuring."""
        return {name: histograms.spread(times) for name, times in sorted(self._totals.times.items())}

    def _columns(self) -> dict[str, list[Any]]:
        idle = {process: tick for _, process in self._brokers() if (tick := self._idle(process))}
        memories = {process: processes.memory_of(tick) for process, tick in idle.items()}
        return self._series.columns(_RATES, memories, self._lines)

    def _all_brokers(self) -> dict[str, float | None]:
        """The sums over all brokers; ``None`` if unknown."""
        loads = [load for _, name in self._brokers() if (load := self._loads[name].told())]
        memories = [processes.memory_of(self._last[name]) for _, name in self._brokers()]
        return totals(loads, (processes.private(memory) for memory in memories), self._counters)

    def _brokers(self) -> list[tuple[int, str]]:
        indexed = [(self._servers.index(process), process) for process in self._last]
        return sorted((index, process) for index, process in indexed if index is not None)

    def _memory(self) -> dict[str, Any]:
        rows = [self._broker_memory(index, process) for index, process in self._brokers()]
        return {"brokers": rows, "mean": processes.mean_memory(rows)}

    def _broker_memory(self, index: int, process: str) -> dict[str, Any]:
        tick, idle = self._last[process], self._idle(process)
        memory = processes.memory_of(tick)
        return {
            "index": index,
            **memory,
            "over_idle_bytes": processes.over_idle(memory, processes.memory_of(idle)) if idle else None,
            "table_bytes": tick.counters.get(self._system.table_gauge),
        }

    def _idle(self, process: str) -> Tick | None:
        """A server's last tick before the clients began, or its newest one before that: their first request, or, if
        some only receive, their start.

        Load generators report a request in the tick at the end of its second, up to 1 s later and in another
        journal. All processes write ticks at about the same time, hence half a second of leeway.
        """
        began_us = self._clients_began_us
        early = self._early.get(process, ())
        return next((tick for tick in reversed(early) if began_us is None or tick.at_us <= began_us + LEEWAY_US), None)


def _grown(before: Tick | None, tick: Tick, system: System) -> dict[str, int]:
    """The growth of each counter since the previous tick; a process starts at zero."""
    earlier = before.counters if before is not None else {}
    names = tick.counters.keys() - system.gauges - CLIENT_GAUGES
    return {name: growth([earlier.get(name, 0), tick.counters[name]]) for name in names}
