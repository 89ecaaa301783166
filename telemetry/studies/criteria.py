"""The words of a verdict, and what criteria are made of. Pure.

A quantity is computed once for each seed, and its interval is over seeds, so that nothing is decided by one lucky run:

::

    reproduced     the criterion holds for the whole 95 % interval
    shape only     it holds for no part of it, and the published direction for the whole interval
    not            neither holds for any part of it
    inconclusive   the interval has both in it: so few seeds neither show nor refute it
    not known      runs are missing, or there is one seed only
    not judged     a value that is shown next to a published one, without a criterion
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

REPRODUCED, SHAPE_ONLY, NOT, INCONCLUSIVE, UNKNOWN = "reproduced", "shape only", "not", "inconclusive", "not known"
LOOKS = {REPRODUCED: "done", SHAPE_ONLY: "suspect", NOT: "failed", INCONCLUSIVE: "stopped", UNKNOWN: "unknown"}
"""The state that marks each, as a class of the pages."""
NOT_JUDGED = "not judged"
VERDICTS = (REPRODUCED, SHAPE_ONLY, NOT, INCONCLUSIVE, UNKNOWN)
OF_VALUES = (*VERDICTS, NOT_JUDGED)
MEANINGS = {
    REPRODUCED: "the criterion holds for the whole 95 % interval over seeds",
    SHAPE_ONLY: "the criterion holds for no part of the interval, the shape for the whole",
    NOT: "neither holds for any part of the interval",
    INCONCLUSIVE: "the interval neither shows nor refutes it; more seeds narrow it",
    UNKNOWN: "runs are missing, or there is one seed only",
}


def in_words(verdict: str) -> str:
    """As it is shown without what it is about."""
    return "not reproduced" if verdict == NOT else verdict


ROUNDING = 1e-9

Shown = bool | None
"""Whether something holds: for the whole interval, for no part of it, or ``None``, for a part."""

Interval = Mapping[str, Any]
Intervals = Mapping[str, Interval]


def word(criterion: Shown, shape: Shown) -> str:
    """The verdict."""
    if criterion:
        return REPRODUCED
    if criterion is None or shape is None:
        return INCONCLUSIVE
    return SHAPE_ONLY if shape else NOT


# ---- whether one thing holds of an interval


def all_of(parts: Iterable[Shown]) -> Shown:
    """Refuted as soon as one is; shown once all are."""
    found = set(parts)
    return False if False in found else None if None in found else True


def any_of(parts: Iterable[Shown]) -> Shown:
    found = set(parts)
    return True if True in found else None if None in found else False


def negated(part: Shown) -> Shown:
    return None if part is None else not part


def at_least(figure: Interval, bound: float) -> Shown:
    if figure["low"] >= bound - abs(bound) * ROUNDING:
        return True
    return False if figure["high"] < bound else None


def at_most(figure: Interval, bound: float) -> Shown:
    if figure["high"] <= bound + abs(bound) * ROUNDING:
        return True
    return False if figure["low"] > bound else None


def above(one: Interval, other: Interval) -> Shown:
    """Whether one is above another, intervals apart; what is equal but for rounding is not."""
    return True if one["low"] > other["high"] else False if one["high"] <= other["low"] * (1 + ROUNDING) else None


def between(figure: Interval, low: float, high: float) -> Shown:
    return all_of((at_least(figure, low), at_most(figure, high)))


def within(figure: Interval, share: float) -> Shown:
    """Whether a ratio is within ``share`` of 1."""
    low, high = 1 - share, 1 + share
    if figure["low"] >= low and figure["high"] <= high:
        return True
    return False if figure["high"] < low or figure["low"] > high else None


def in_each(figure: Interval, holds: Callable[[float], bool]) -> bool:
    """Whether something holds of each seed's value, which the interval of their mean does not say."""
    return all(map(holds, figure["replicates"]))


# ---- whole criteria: whether the criterion holds, and whether the shape does


def _grow(figures: Intervals, bound: float, shape: float) -> tuple[Shown, Shown]:
    found = figures.values()
    return all_of(at_least(one, bound) for one in found), all_of(at_least(one, shape) for one in found)


def _shrink(figures: Intervals, bound: float, shape: float) -> tuple[Shown, Shown]:
    found = figures.values()
    return all_of(at_most(one, bound) for one in found), all_of(at_most(one, shape) for one in found)


def _stay(figures: Intervals, share: float, shape: float) -> tuple[Shown, Shown]:
    found = figures.values()
    return all_of(within(one, share) for one in found), all_of(within(one, shape) for one in found)


def _range(figures: Intervals, low: float, high: float, shape: tuple[float, float]) -> tuple[Shown, Shown]:
    found = figures.values()
    return all_of(between(one, low, high) for one in found), all_of(between(one, *shape) for one in found)


def _separate(figures: Intervals, share: float) -> tuple[Shown, Shown]:
    """Whether each ratio is further than ``share`` from 1; one is enough for the shape."""
    apart = [negated(within(figure, share)) for figure in figures.values()]
    return all_of(apart), any_of(apart)


def are_at_least(bound: float, shape: float) -> partial[tuple[Shown, Shown]]:
    """Every quantity is."""
    return partial(_grow, bound=bound, shape=shape)


def are_at_most(bound: float, shape: float) -> partial[tuple[Shown, Shown]]:
    return partial(_shrink, bound=bound, shape=shape)


def are_within(share: float, shape: float) -> partial[tuple[Shown, Shown]]:
    """Every ratio is so near to 1."""
    return partial(_stay, share=share, shape=shape)


def are_between(low: float, high: float, shape: tuple[float, float]) -> partial[tuple[Shown, Shown]]:
    return partial(_range, low=low, high=high, shape=shape)


def are_apart(share: float) -> partial[tuple[Shown, Shown]]:
    return partial(_separate, share=share)
