"""Statistics of a round of pings at one gateway (contract, section 5; seed, 5.4)."""

from __future__ import annotations

from collections.abc import Collection
from math import sqrt
from statistics import fmean, median
from typing import NamedTuple


class Statistics(NamedTuple):
    """Round-trip times in µs; 0 without pongs."""

    pinged: int = 0
    pongs: int = 0
    mean_us: float = 0.0
    variance_us2: float = 0.0
    """Of the population."""
    median_us: float = 0.0
    max_us: int = 0
    min_us: int = 0

    @property
    def sd_us(self) -> float:
        return sqrt(self.variance_us2)

    @property
    def ping_rate(self) -> float:
        """0 to 1; 1 if no node was pinged."""
        return self.pongs / self.pinged if self.pinged else 1.0


def statistics_of(pinged: int, rtts_us: Collection[int]) -> Statistics:
    """``rtts_us``: of the nodes whose pong was in time."""
    pongs = len(rtts_us)
    if not pongs:
        return Statistics(pinged)
    mean = fmean(rtts_us)
    variance = fmean((rtt - mean) ** 2 for rtt in rtts_us)
    return Statistics(max(pinged, pongs), pongs, mean, variance, median(rtts_us), max(rtts_us), min(rtts_us))
