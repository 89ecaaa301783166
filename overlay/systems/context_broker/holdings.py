"""Whether copies follow what is asked for: the shape that random replication is said to reach. Pure.

With p_i copies of entity i and queries for it at the rate q_i, a random search for any entity costs the fewest steps in
all where p_i grows with the square root of q_i (Cohen & Shenker 2002). On doubly logarithmic axes that is a line of
slope 0.5; copies alike for all are slope 0, copies in proportion to queries slope 1.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import log, sqrt

SQUARE_ROOT = 0.5


@dataclass(frozen=True, slots=True)
class Shape:
    """copies ~ rate ** exponent, fitted by least squares to the logarithms."""

    exponent: float
    error: float
    """Its standard error."""
    entities: int


def fit_shape(points: Iterable[tuple[float, float]]) -> Shape | None:
    """The shape of (queries per second, copies); points that are not positive say nothing and are left out.

    ``None`` for fewer than three points, or where all rates are alike.
    """
    logs = [(log(rate), log(copies)) for rate, copies in points if rate > 0 and copies > 0]
    count = len(logs)
    if count < 3:
        return None
    mean_x, mean_y = (sum(values) / count for values in zip(*logs, strict=True))
    spread = sum((x - mean_x) ** 2 for x, _ in logs)
    if spread <= 1e-12:
        return None
    exponent = sum((x - mean_x) * (y - mean_y) for x, y in logs) / spread
    residue = sum((y - mean_y - exponent * (x - mean_x)) ** 2 for x, y in logs)
    return Shape(exponent, sqrt(residue / (count - 2) / spread), count)
