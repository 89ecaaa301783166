"""The results of a section: figures, each the median of its rounds with a 95 % interval."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np

from telemetry.statistics.intervals import CONFIDENCE

RATIO = "ratio"
"""The unit of figures that can be compared between runs and machines. Others are valid for one machine and day only."""

Better = Literal["higher", "lower"]
_SEED = 20_170_301
RESAMPLES = 10_000


class Unavailable(Exception):
    """The machine lacks a requirement of a section, or of the rest of it. The message names it and how to install
    it."""


@dataclass(frozen=True)
class Figure:
    """One measured quantity: the median over ``rounds`` rounds with its 95 % interval.

    With a single round, ``low`` and ``high`` equal ``value``. ``goal`` is text with a comparison (``>= 0.7``). Without
    a goal it is empty and ``met`` is ``None``.
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
    """A ``Figure`` of the median of ``values``, one per round. The median is compared with the goal."""
    value, low, high = median(values)
    bounds = [(">=", at_least), ("<=", at_most)]
    goal = " and ".join(f"{sign} {bound:g}" for sign, bound in bounds if bound is not None)
    is_met = (at_least is None or value >= at_least) and (at_most is None or value <= at_most)
    return Figure(section, name, unit, value, low, high, len(values), better, goal, is_met if goal else None)


def median(values: Sequence[float]) -> tuple[float, float, float]:
    """``(median, low, high)`` with a 95 % percentile bootstrap interval, which assumes no distribution.

    Raises ``ValueError`` without values.
    """
    if not values:
        raise ValueError("no values were measured")
    measured = np.asarray(values, dtype=float)
    draws = np.random.default_rng(_SEED).integers(0, len(measured), size=(RESAMPLES, len(measured)))
    tail = (1 - CONFIDENCE) / 2 * 100
    low, high = np.percentile(np.median(measured[draws], axis=1), [tail, 100 - tail])
    return float(np.median(measured)), float(low), float(high)


class Part(Protocol):
    """A module of a section."""

    def measure(self, rounds: int, say: Callable[[str], None]) -> Iterator[Figure]: ...


def measure_parts(parts: Sequence[Part], rounds: int, say: Callable[[str], None]) -> Iterator[Figure]:
    """Those of all parts. Raises ``Unavailable`` at the end, with what is lacking."""
    lacking: list[str] = []
    for part in parts:
        try:
            yield from part.measure(rounds, say)
        except Unavailable as reason:
            lacking.append(str(reason))
    if lacking:
        raise Unavailable("; ".join(lacking))
