"""What a section of the benchmark yields: figures, each the median of its rounds with a 95 % interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from telemetry.statistics.intervals import CONFIDENCE

RATIO = "ratio"
"""The unit of what travels between runs and machines; everything else is true of one machine on one day."""

Better = Literal["higher", "lower"]
_SEED = 20_170_301
RESAMPLES = 10_000


class Unavailable(Exception):
    """This machine lacks what a section, or the rest of it, needs. The text says what, and how to get it."""


@dataclass(frozen=True)
class Figure:
    """One measured quantity: the median of ``rounds`` rounds, and the 95 % interval of that median.

    ``low`` and ``high`` equal ``value`` where one round allows no interval. ``goal`` is in words with its comparison
    (``>= 0.7``), empty where there is none, and ``met`` then ``None``.
    """

    section: str
    name: str
    unit: str
    value: float
    low: float
    high: float
    rounds: int
    better: Better
    goal: str = ""
    met: bool | None = None


def figure(
    section: str,
    name: str,
    unit: str,
    values: Sequence[float],
    better: Better,
    *,
    at_least: float | None = None,
    at_most: float | None = None,
) -> Figure:
    """The median of ``values`` (one a round; at least one) as a ``Figure``; it is the median that meets the goal."""
    value, low, high = median(values)
    bounds = [(">=", at_least), ("<=", at_most)]
    goal = " and ".join(f"{sign} {bound:g}" for sign, bound in bounds if bound is not None)
    is_met = (at_least is None or value >= at_least) and (at_most is None or value <= at_most)
    return Figure(section, name, unit, value, low, high, len(values), better, goal, is_met if goal else None)


def median(values: Sequence[float]) -> tuple[float, float, float]:
    """``(median, low, high)``: with its 95 % percentile bootstrap interval, which assumes nothing of the distribution.

    Raises ``ValueError`` without values.
    """
    if not values:
        raise ValueError("no round has measured anything")
    measured = np.asarray(values, dtype=float)
    draws = np.random.default_rng(_SEED).integers(0, len(measured), size=(RESAMPLES, len(measured)))
    tail = (1 - CONFIDENCE) / 2 * 100
    low, high = np.percentile(np.median(measured[draws], axis=1), [tail, 100 - tail])
    return float(np.median(measured)), float(low), float(high)
