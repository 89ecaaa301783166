"""What a run must keep to be called passed: ``p95 < 2ms``, ``not_found = 0``. Pure.

A threshold is one comparison of ``telemetry.filters`` whose field is a measure. Where it is
about a response time, a request that got no answer is beyond every bound (``bounds`` of ``telemetry.summary.summary``):
those that are left when others are lost are the quick ones, and prove nothing.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any, TypedDict

from overlay.core.errors import InvalidSetting
from telemetry.filters import Comparison, InvalidFilter, did_you_mean, parse
from telemetry.filters.errors import InvalidValue
from telemetry.filters.values import quantity, written
from telemetry.measures import COMMON, Measure, figures_in
from telemetry.statistics.metrics import PERCENTILES, STATISTICS
from telemetry.systems.registry import measures

_HOLDS = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True, slots=True)
class Threshold:
    """One demand."""

    text: str
    """As it was written."""
    measure: Measure
    op: str
    limit: float
    """In the measure's unit."""

    def holds(self, value: float | None) -> bool:
        """Whether ``value`` keeps it. What was not measured keeps nothing."""
        return value is not None and bool(_HOLDS[self.op](value, self.limit))


class Judged(TypedDict):
    """A threshold of a run that is done."""

    text: str
    value: float | None
    """Of the run, in the measure's unit; ``None`` where nothing was measured, or where ``why`` says it is unbounded."""
    held: bool
    why: str
    """How many requests got no answer, where that counts; empty otherwise, as of runs judged before it did."""


COUNTED = ("requests", "answered")
"""Figures that it takes, beside its own, to judge a run that was collected before ``bounds`` were."""


def read(text: str, known: Mapping[str, Measure] | None = None) -> Threshold:
    """The threshold that ``text`` says, of the ``known`` measures or else of any. Raises ``InvalidFilter``."""
    known = measures() if known is None else known
    tree = parse(text)
    if not isinstance(tree, Comparison):
        raise InvalidFilter(0, "a threshold is one comparison, such as p95 < 2ms or not_found = 0")
    measure = known.get(tree.field.lower())
    if measure is None:
        raise InvalidFilter(tree.at, f"there is no figure “{tree.field:.40}”{did_you_mean(tree.field, known)}")
    if tree.op not in _HOLDS:
        raise InvalidFilter(tree.at, f"a figure is compared by one of {' '.join(_HOLDS)}, not by {tree.op}")
    try:
        limit = quantity(tree.value, measure.unit)
    except InvalidValue as error:
        raise InvalidFilter(tree.value_at, error.sentence) from None
    return Threshold(text, measure, tree.op, limit)


def read_all(texts: Iterable[str], known: Mapping[str, Measure] | None = None) -> list[Threshold]:
    """Those of a definition. Raises ``InvalidSetting`` that names ``thresholds.0``, or whichever it is."""
    found = []
    for index, text in enumerate(texts):
        try:
            found.append(read(text, known))
        except InvalidFilter as error:
            raise InvalidSetting(f"thresholds.{index}", error.sentence) from None
    return found


def broken(judged: Iterable[Judged], known: Mapping[str, Measure] | None = None) -> str:
    """Those that did not hold, with what was measured: ``p95 < 2ms (3.1ms)``; empty where all did."""
    return ", ".join(f"{one['text']} ({_measured(one, known)})" for one in judged if not one["held"])


def _measured(one: Judged, known: Mapping[str, Measure] | None) -> str:
    value, why = one["value"], one.get("why", "")
    measured = "" if value is None and why else written(value, read(one["text"], known).measure.unit)
    return "; ".join(filter(None, (measured, why)))


def judge(thresholds: Iterable[Threshold], summary: Mapping[str, Any]) -> list[Judged]:
    """Each of them held against a run's summary."""
    thresholds = list(thresholds)
    wanted = [*(COMMON[name] for name in COUNTED), *(one.measure for one in thresholds)]
    return judge_figures(thresholds, figures_in(summary, wanted), summary.get("bounds"))


def judge_figures(
    thresholds: Iterable[Threshold], figures: Mapping[str, float | None], bounds: Mapping[str, Any] | None
) -> list[Judged]:
    """Each of them held against a run's figures, by key and in their units, and its summary's ``bounds``."""
    return [_judged(one, figures, bounds or _assumed(figures)) for one in thresholds]


def _judged(threshold: Threshold, figures: Mapping[str, float | None], bounds: Mapping[str, Any]) -> Judged:
    name = threshold.measure.name
    if not threshold.measure.is_response or not bounds["unanswered"]:
        value = figures.get(threshold.measure.key)
        return Judged(text=threshold.text, value=value, held=threshold.holds(value), why="")
    why = f"{bounds['unanswered']:,} of {bounds['requests']:,} requests got no answer"
    if (bound := bounds.get(name)) is None:
        return Judged(text=threshold.text, value=None, held=threshold.holds(inf), why=f"{why}, so {name} is unbounded")
    held = threshold.holds(bound)
    return Judged(text=threshold.text, value=bound, held=held, why=f"{why} and count as slower than the others")


def _assumed(figures: Mapping[str, float | None]) -> Mapping[str, Any]:
    """Of a run that was collected before its summary had ``bounds``: a percentile that there are enough answers for is
    taken as it stands, since by how much the others would raise it was not kept."""
    requests, answered = (int(figures.get(name) or 0) for name in COUNTED)
    known = {
        f"p{percent}": figures.get(f"p{percent}") for percent in PERCENTILES if 100 * answered >= percent * requests
    }
    return {"requests": requests, "unanswered": requests - answered, **dict.fromkeys(STATISTICS), **known}


def passed(judged: Sequence[Judged]) -> bool | None:
    """Whether all held; ``None`` where none was demanded."""
    return all(one["held"] for one in judged) if judged else None
