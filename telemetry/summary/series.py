"""Figures of a run over time, with a limited number of points: when they are full, adjacent ones are merged. Pure.

Halving the resolution, instead of a sliding window, keeps the start of the run visible on a page opened late.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from telemetry.charts.live import Line
from telemetry.statistics import histograms
from telemetry.statistics.metrics import STATISTICS, rate
from telemetry.summary.absences import SILENT_US
from telemetry.summary.processes import MEMORY, over_idle

Memories = Mapping[str, Mapping[str, int | None]]
"""Memory by process and kind, bytes."""

BUSY = ("broker_cores", "client_cores")
"""Columns of processor time: busy cores of all brokers, and of all load generators."""

POINTS = 600
SECOND_US = 1_000_000


@dataclass(slots=True)
class Bucket:
    """One step of the series."""

    response_us: Counter[int] = field(default_factory=Counter)
    """Counts by response time."""
    counts: Counter[str] = field(default_factory=Counter)
    memory: dict[str, dict[str, int | None]] = field(default_factory=dict)
    """The last memory of each broker by kind, bytes."""
    busy: dict[str, dict[str, tuple[int, int]]] = field(default_factory=lambda: {column: {} for column in BUSY})
    """By column and process: processor time and elapsed time, µs."""
    times: dict[str, Counter[int]] = field(default_factory=dict)
    """Counts by duration of each named histogram."""
    grown: Counter[str] = field(default_factory=Counter)
    """The growth of each counter that the system charts."""
    gauges: dict[str, dict[str, int]] = field(default_factory=dict)
    """The last value of each server, by gauge."""
    spread: dict[str, Any] | None = None
    """Statistics of ``response_us``, computed on first use."""
    spreads: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Statistics of ``times``, computed on first use."""
    cores: dict[str, float | None] = field(default_factory=dict)
    """Cores from ``busy``, computed on first use."""

    def absorb(self, later: Bucket) -> None:
        self.response_us.update(later.response_us)
        self.counts.update(later.counts)
        self.memory = {**self.memory, **later.memory}
        self.grown.update(later.grown)
        for name, times in later.times.items():
            self.times.setdefault(name, Counter()).update(times)
        for name, values in later.gauges.items():
            self.gauges.setdefault(name, {}).update(values)
        for column, processes in later.busy.items():
            for process, (used_us, elapsed_us) in processes.items():
                self.use(column, process, used_us, elapsed_us)
        self.spread = None
        self.spreads.clear()

    def use(self, column: str, process: str, used_us: int, elapsed_us: int) -> None:
        """Add the processor time of a process in an elapsed time."""
        used_before, elapsed_before = self.busy[column].get(process, (0, 0))
        self.busy[column][process] = used_before + used_us, elapsed_before + elapsed_us
        self.cores.pop(column, None)

    def cores_of(self, column: str) -> float | None:
        """The busy cores of all processes of a column; ``None`` if unknown."""
        if column not in self.cores:
            shares = [used / elapsed for used, elapsed in self.busy[column].values()]
            self.cores[column] = sum(shares) if shares else None
        return self.cores[column]

    def value(self, line: Line, step_us: int) -> float | None:
        """The value of a line that a system declared, except a ``total``; ``None`` if nothing was measured."""
        if line.how == "rate":
            return rate(self.grown[line.of], step_us) if line.of in self.grown else None
        if line.of not in self.spreads:
            self.spreads[line.of] = histograms.spread(self.times.get(line.of, Counter()))
        found: float | None = self.spreads[line.of][line.how]
        return found

    def response(self) -> dict[str, Any]:
        if self.spread is None:
            self.spread = histograms.spread(self.response_us)
        return self.spread


class Series:
    """Buckets of ``step_s`` seconds from the deployment's zero."""

    def __init__(self, points: int = POINTS) -> None:
        self.step_s = 1
        self._points = points
        self._buckets: dict[int, Bucket] = {}

    def at(self, at_us: int) -> Bucket:
        """The bucket that contains ``at_us``. A tick at a full second belongs to the second that it ends."""
        bucket = self._buckets.setdefault(self._index(at_us), Bucket())
        bucket.spread = None
        bucket.spreads.clear()
        if max(self._buckets) - min(self._buckets) < self._points:
            return bucket
        self._halve()
        return self.at(at_us)

    def _index(self, at_us: int) -> int:
        return (max(at_us, 1) - 1) // (self.step_s * SECOND_US)

    def _halve(self) -> None:
        self.step_s *= 2
        halved: dict[int, Bucket] = {}
        for index, bucket in sorted(self._buckets.items()):
            if index // 2 in halved:
                halved[index // 2].absorb(bucket)
            else:
                halved[index // 2] = bucket
        self._buckets = halved

    def columns(
        self, rates: Sequence[str], idle: Memories | None = None, lines: Sequence[Line] = ()
    ) -> dict[str, list[Any]]:
        """Columns for a chart: ``t`` in seconds, response times in µs, memory in bytes, cores, ``rates`` per second.

        Memory is the mean over the brokers; ``over_idle_bytes`` over those with known idle memory, by
        process in ``idle``. ``lines`` are those that the system declared. A step without measurements is ``None``,
        which charts draw as a gap.
        """
        if not self._buckets:
            return {
                name: []
                for name in (
                    "t",
                    *STATISTICS,
                    *MEMORY,
                    "over_idle_bytes",
                    *BUSY,
                    *rates,
                    *(line.column for line in lines),
                )
            }
        steps = range(min(self._buckets), max(self._buckets) + 1)
        buckets = [self._buckets.get(index, _NOTHING) for index in steps]
        columns: dict[str, list[Any]] = {"t": [(index + 1) * self.step_s for index in steps]}
        for name in STATISTICS:
            columns[name] = [bucket.response()[name] for bucket in buckets]
        for name in MEMORY:
            columns[name] = [_mean([row[name] for row in bucket.memory.values()]) for bucket in buckets]
        columns["over_idle_bytes"] = [_mean(_over_idle(bucket, idle or {})) for bucket in buckets]
        for name in BUSY:
            columns[name] = [bucket.cores_of(name) for bucket in buckets]
        for name in rates:
            columns[name] = [
                rate(bucket.counts[name], self.step_s * SECOND_US) if name in bucket.counts else None
                for bucket in buckets
            ]
        step_us = self.step_s * SECOND_US
        for line in lines:
            is_total = line.how == "total"
            columns[line.column] = (
                _totals(buckets, line.of, SILENT_US // step_us)
                if is_total
                else [bucket.value(line, step_us) for bucket in buckets]
            )
        return columns


_NOTHING = Bucket()


def _totals(buckets: Sequence[Bucket], gauge: str, carried: int) -> list[float | None]:
    """The sum of a gauge over all servers at each step. Without a tick in a step, a server counts with its last value
    for up to ``carried`` steps, after which it is down. ``None`` if no server counts."""
    silent: dict[str, tuple[int, int]] = {}
    before: Mapping[str, int] = {}
    found: list[float | None] = []
    for step, bucket in enumerate(buckets):
        values = bucket.gauges.get(gauge, {})
        silent |= {process: (step - 1, before[process]) for process in before.keys() - values.keys()}
        silent = {one: last for one, last in silent.items() if one not in values and step - last[0] <= carried}
        known = [*values.values(), *(value for _, value in silent.values())]
        found.append(sum(known) if known else None)
        before = values
    return found


def _over_idle(bucket: Bucket, idle: Memories) -> list[int | None]:
    return [over_idle(row, idle[process]) for process, row in bucket.memory.items() if process in idle]


def _mean(values: Sequence[int | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
