"""Response times of a fleet's exchanges, a second at a time, as ticks carry them.

Counterparts: ``overlay.runtime.load_generator`` and ``overlay.sim.journals`` report them;
``telemetry.statistics.histograms`` reads them.
"""

from __future__ import annotations

from hdrh.histogram import HdrHistogram

from overlay.journal.facts import Sample

LONGEST_US = 60 * 1_000_000
"""Top of the histogram; what took longer counts as this."""

HISTOGRAM_DIGITS = 2
"""Within one per cent, as a live chart needs. Three digits take seven times as long to clear, and make clients late."""

CELL_BITS = 8
"""Leading binary digits of a value by which such a histogram tells it from others."""


class ResponseTimes:
    """Of the exchanges that were answered since the last tick."""

    def __init__(self) -> None:
        self._histogram = HdrHistogram(1, LONGEST_US, HISTOGRAM_DIGITS)
        self._seen: dict[int, int] = {}
        """How often each response time was seen, as precisely as the histogram tells them apart."""

    def add(self, sample: Sample) -> None:
        if sample.outcome == "answered":
            value = sample.ended_us - sample.intended_us
            coarse = max(value.bit_length() - CELL_BITS, 0)
            value = value >> coarse << coarse
            self._seen[value] = self._seen.get(value, 0) + 1

    def encode(self) -> str:
        """Them, packed; the next second begins."""
        for value, times in self._seen.items():
            self._histogram.record_value(min(max(value, 1), LONGEST_US), times)
        encoded: str = self._histogram.encode().decode()
        self._histogram.reset()
        self._seen.clear()
        return encoded
