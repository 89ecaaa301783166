"""The relation between copies and queries, which random replication is said to bring to a square root. Pure.

Let entity i have p_i copies and be queried at rate q_i. Random searches then need the fewest steps
overall if p_i grows with the square root of q_i (Cohen & Shenker 2002). On log-log axes this is a line of
slope 0.5. Equal numbers of copies are slope 0, copies in proportion to queries are slope 1.
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
    """The shape of (queries per second, copies). Points that are not positive are ignored.

    ``None`` for fewer than three points, or if all rates are equal.
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
