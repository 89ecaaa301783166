"""Histograms of a fleet's response times and other durations, one per second, for ticks.

Counterparts: ``overlay.runtime.load_generator`` and ``overlay.sim.journals`` report them;
``telemetry.statistics.histograms`` reads them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from hdrh.histogram import HdrHistogram

from overlay.journal.facts import ClientFact, Connection, Delivery, HandOver, Histogram, Sample

LONGEST_US = 60 * 1_000_000
"""The maximum of the histogram; longer times are counted there."""

HISTOGRAM_DIGITS = 2
"""A precision of one per cent, sufficient for live charts. Clearing three digits takes seven times as long and delays
clients."""

CELL_BITS = 8
"""The leading binary digits of a value that select its cell."""


class ResponseTimes:
    """Response times of the exchanges answered since the last tick."""

    def __init__(self) -> None:
        self._histogram = HdrHistogram(1, LONGEST_US, HISTOGRAM_DIGITS)
        self._seen: dict[int, int] = {}
        """The count of each response time, at the precision of the histogram."""

    def add(self, sample: Sample) -> None:
        if sample.outcome == "answered":
            self.record(sample.ended_us - sample.intended_us)

    def record(self, value: int) -> None:
        """``value`` in microseconds."""
        coarse = max(value.bit_length() - CELL_BITS, 0)
        value = value >> coarse << coarse
        self._seen[value] = self._seen.get(value, 0) + 1

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self._seen)

    def encode(self) -> str:
        """The encoded histogram; starts the next one."""
        for value, times in self._seen.items():
            self._histogram.record_value(min(max(value, 1), LONGEST_US), times)
        encoded: str = self._histogram.encode().decode()
        self._histogram.reset()
        self._seen.clear()
        return encoded


class OtherTimes:
    """Durations of the facts of clients that are no samples, since the last tick."""

    def __init__(self) -> None:
        self._times: dict[str, ResponseTimes] = defaultdict(ResponseTimes)

    def add(self, fact: ClientFact) -> None:
        if isinstance(fact, Delivery):
            if fact.copy == 1:
                self._times["deliveries"].record(max(fact.received_us - fact.published_us, 0))
        elif isinstance(fact, Connection):
            if fact.opened_us:
                self._times["connections"].record(fact.opened_us - fact.intended_us)
        elif isinstance(fact, HandOver) and fact.outcome == "done":
            self._times["handovers"].record(fact.ended_us - fact.began_us)

    def histograms(self, process: str, at_us: int) -> Iterator[Histogram]:
        """Those with values; starts the next ones."""
        for name, times in sorted(self._times.items()):
            if times:
                yield Histogram(process, at_us, name, times.encode())
