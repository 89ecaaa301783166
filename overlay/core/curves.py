"""Measured numbers and distributions as functions of the length of a sleep. Pure.

Counterpart: ``overlay.core.service_times`` is made of them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from math import isfinite
from typing import Any

from overlay.core.errors import InvalidSetting, shown
from overlay.core.node import SECOND

MICROSECOND = 1_000
"""Nanoseconds."""

RANKS = (0.0, 0.02, 0.05, *(i / 20 for i in range(2, 19)), 0.95, 0.98, 0.99, 0.995, 1.0)
"""The ranks at which distributions are stored, with linear interpolation between them."""


@dataclass(frozen=True)
class Curve:
    """A number as a function of the length of a sleep, interpolated linearly between some known points."""

    idle_s: tuple[float, ...]
    """Ascending, in seconds. Before the first and after the last point the value is constant."""
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        _check_idle(self.idle_s)
        if len(self.values) != len(self.idle_s):
            raise InvalidSetting("values", f"must be {len(self.idle_s)} numbers, one for each idle time")
        check_numbers("values", self.values)

    def at(self, idle_ns: int) -> float:
        low, high, share = _between(self.idle_s, idle_ns)
        return self.values[low] + (self.values[high] - self.values[low]) * share


def constant(value: float) -> Curve:
    """The same value after every sleep."""
    return Curve((0.0,), (value,))


@dataclass(frozen=True)
class Delays:
    """Distributions of delays in microseconds after sleeps of some lengths, interpolated linearly between them."""

    idle_s: tuple[float, ...]
    """As in ``Curve``."""
    quantiles_us: tuple[tuple[float, ...], ...]
    """For each idle time, the delay at each of ``RANKS``."""

    def __post_init__(self) -> None:
        _check_idle(self.idle_s)
        if len(self.quantiles_us) != len(self.idle_s):
            raise InvalidSetting("quantiles_us", f"must be {len(self.idle_s)} lists, one for each idle time")
        for row in self.quantiles_us:
            if len(row) != len(RANKS):
                raise InvalidSetting("quantiles_us", f"must have {len(RANKS)} values in each list")
            check_numbers("quantiles_us", row)
            if list(row) != sorted(row):
                raise InvalidSetting("quantiles_us", "must not fall from one rank to the next")

    def ns(self, idle_ns: int, rank: float) -> int:
        """The delay at ``rank`` (0 to 1) after ``idle_ns`` of sleep, in nanoseconds."""
        low, high, share = _between(self.idle_s, idle_ns)
        place = min(bisect_right(RANKS, rank) - 1, len(RANKS) - 2)
        along = (rank - RANKS[place]) / (RANKS[place + 1] - RANKS[place])
        one = self.quantiles_us[low]
        value = one[place] + (one[place + 1] - one[place]) * along
        if share:
            other = self.quantiles_us[high]
            value += (other[place] + (other[place + 1] - other[place]) * along - value) * share
        return round(value * MICROSECOND)


def check_numbers(name: str, values: Iterable[Any]) -> None:
    """Raise ``InvalidSetting`` unless all are numbers of at least 0."""
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value) or value < 0:
            raise InvalidSetting(name, f"must be made of numbers of at least 0, not {shown(value, 40)}")


def _check_idle(idle_s: tuple[float, ...]) -> None:
    check_numbers("idle_s", idle_s)
    if not idle_s or list(idle_s) != sorted(set(idle_s)):
        raise InvalidSetting("idle_s", "must be one or more times, ascending")


def _between(grid_s: tuple[float, ...], idle_ns: int) -> tuple[int, int, float]:
    """The two grid points around a time, and its position between them (0 to 1).

    Linear, not logarithmic: logarithms differ between machines in the last bit, and digests must not.
    """
    idle = idle_ns / SECOND
    place = bisect_right(grid_s, idle)
    if place == 0:
        return 0, 0, 0.0
    if place == len(grid_s):
        return place - 1, place - 1, 0.0
    low = grid_s[place - 1]
    return place - 1, place, (idle - low) / (grid_s[place] - low)
