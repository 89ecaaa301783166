"""Lines by least squares, and whether two of them that meet fit better than one. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import log
from typing import NamedTuple

import numpy as np

from telemetry.statistics.metrics import Numbers

Points = Sequence[tuple[float, float]]
"""By x and y."""
FEWEST = 6
"""Points of a bend: two more than what is fitted."""
PER_GAP = 8
"""Places between two points at which a bend is looked for."""
EXACT = 1e-6
"""A relative deviation, below which all are alike."""


class Line(NamedTuple):
    slope: float
    intercept: float
    fit: float
    """R²: the share of the variance of y that it explains."""


class Bend(NamedTuple):
    at: float
    """The x where two lines meet."""
    gain: float
    """BIC of one line less that of two: above 0, two are better."""


def line(points: Points) -> Line:
    """Raises ``KeyError`` for fewer than three points."""
    if len(points) < 3:
        raise KeyError(f"{len(points)} points of a line")
    x, y = _columns(points)
    slope, intercept = (float(one) for one in np.polyfit(x, y, 1))
    away, around = y - (slope * x + intercept), y - y.mean()
    spread = float(around @ around)
    return Line(slope, intercept, 1 - float(away @ away) / spread if spread else 1.0)


def bend(points: Points) -> Bend:
    """The best one. Deviations are relative to y, which is above 0, so that small values count as much as large ones.

    Raises ``KeyError`` for fewer than ``FEWEST`` points.
    """
    if len(points) < FEWEST:
        raise KeyError(f"{len(points)} points of a bend")
    x, y = _columns(sorted(points))
    straight = [np.ones_like(x), x]
    one = _deviation(straight, y)
    places = np.unique(np.concatenate([np.geomspace(*gap, PER_GAP) for gap in pairwise(x[1:-1])]))
    two, at = min((_deviation([*straight, np.maximum(0, x - place)], y), float(place)) for place in places)
    n = len(x)
    return Bend(at, n * log(one / two) - 2 * log(n))  # two lines have two numbers more: where they meet, and a slope


def _deviation(basis: Sequence[Numbers], y: Numbers) -> float:
    """The mean square of what the best combination misses, relative to y."""
    weighted = np.stack(basis, axis=1) / y[:, None]
    found = np.linalg.lstsq(weighted, np.ones_like(y), rcond=None)[0]
    away = weighted @ found - 1
    return float(away @ away) / len(y) + EXACT**2


def _columns(points: Points) -> tuple[Numbers, Numbers]:
    table = np.array(points, dtype=float)
    return table[:, 0], table[:, 1]
