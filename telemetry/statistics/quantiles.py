"""Exact percentiles from how often each value occurs, without the values themselves. Pure, over numpy columns.

A percentile is interpolated linearly between the two values whose ranks surround it, as
``telemetry.statistics.metrics`` does. To know it exactly of many values, coarse counts come first: they say in which
ranges those two values lie (``held``), and only of these ranges single values need be counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from telemetry.statistics.metrics import Numbers


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """Values, in any order and perhaps repeated, and how often each occurs; there is at least one."""

    values: Numbers
    counts: Numbers

    @staticmethod
    def merged(parts: Sequence[Counts]) -> Counts:
        """All of them as one."""
        return Counts(np.concatenate([one.values for one in parts]), np.concatenate([one.counts for one in parts]))

    def without(self, values: Numbers) -> Counts:
        """All but those of ``values``."""
        kept = ~np.isin(self.values, values)
        return Counts(self.values[kept], self.counts[kept])

    def held(self, shares: Sequence[float]) -> Numbers:
        """The distinct values between which the percentiles at ``shares`` (0 to 1) are interpolated, ascending."""
        below, above, _ = self._around(shares)
        return np.union1d(below, above)

    def percentiles(self, shares: Sequence[float]) -> list[float]:
        """The percentiles at ``shares`` (0 to 1)."""
        below, above, weight = self._around(shares)
        found: list[float] = (below + (above - below) * weight).tolist()
        return found

    def _around(self, shares: Sequence[float]) -> tuple[Numbers, Numbers, Numbers]:
        order = np.argsort(self.values, kind="stable")
        up_to = np.cumsum(self.counts[order])
        position = np.asarray(shares) * (up_to[-1] - 1)
        low, high = (np.searchsorted(up_to, rank, side="right") for rank in (np.floor(position), np.ceil(position)))
        values = self.values[order]
        return values[low], values[high], position - np.floor(position)
