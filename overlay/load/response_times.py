"""Histograms of a fleet's response times, one per second, for ticks.

Counterparts: ``overlay.runtime.load_generator`` and ``overlay.sim.journals`` report them;
``telemetry.statistics.histograms`` reads them.
"""

from __future__ import annotations

from hdrh.histogram import HdrHistogram

from overlay.journal.facts import Sample

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
            value = sample.ended_us - sample.intended_us
            coarse = max(value.bit_length() - CELL_BITS, 0)
            value = value >> coarse << coarse
            self._seen[value] = self._seen.get(value, 0) + 1

    def encode(self) -> str:
        """The encoded histogram; starts the next one."""
        for value, times in self._seen.items():
            self._histogram.record_value(min(max(value, 1), LONGEST_US), times)
        encoded: str = self._histogram.encode().decode()
        self._histogram.reset()
        self._seen.clear()
        return encoded
