"""What is asked for more often than the rest. Pure."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

from overlay.core.chance import Chance

UNIFORM, ZIPF = "uniform", "zipf"
POPULARITIES = (UNIFORM, ZIPF)
"""All with equal probability, or the k-th in proportion to 1/k."""


class Popularity:
    """Draws one of ``count``, by a value of ``POPULARITIES``."""

    def __init__(self, count: int, popularity: str) -> None:
        self._count = count
        weights = (1 / (k + 1) for k in range(count))
        self._cumulative = tuple(accumulate(weights)) if popularity == ZIPF else ()

    def draw(self, chance: Chance) -> int:
        """A number from 0; under ``zipf`` (exponent 1), 0 is the most popular."""
        if not self._cumulative:
            return chance.randrange(self._count) if self._count > 1 else 0
        wanted = chance.random() * self._cumulative[-1]
        return min(bisect_right(self._cumulative, wanted), self._count - 1)
