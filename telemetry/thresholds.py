"""What a run must keep to be called passed: ``p95 < 2ms``, ``not_found = 0``. Pure.

A threshold is one comparison of ``telemetry.filters`` whose field is one of ``telemetry.measures``.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from overlay.errors import InvalidSetting
from telemetry.filters import Comparison, InvalidFilter, did_you_mean, parse
from telemetry.filters.errors import InvalidValue
from telemetry.filters.values import quantity, written
from telemetry.measures import MEASURES, Measure

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
    """Of the run, in the measure's unit; ``None`` where nothing was measured."""
    held: bool


def read(text: str) -> Threshold:
    """The threshold that ``text`` says. Raises ``InvalidFilter``."""
    tree = parse(text)
    if not isinstance(tree, Comparison):
        raise InvalidFilter(0, "a threshold is one comparison, such as p95 < 2ms or not_found = 0")
    measure = MEASURES.get(tree.field.lower())
    if measure is None:
        raise InvalidFilter(tree.at, f"there is no figure “{tree.field:.40}”{did_you_mean(tree.field, MEASURES)}")
    if tree.op not in _HOLDS:
        raise InvalidFilter(tree.at, f"a figure is compared by one of {' '.join(_HOLDS)}, not by {tree.op}")
    try:
        limit = quantity(tree.value, measure.unit)
    except InvalidValue as error:
        raise InvalidFilter(tree.value_at, error.sentence) from None
    return Threshold(text, measure, tree.op, limit)


def read_all(texts: Iterable[str]) -> list[Threshold]:
    """Those of a definition. Raises ``InvalidSetting`` that names ``thresholds.0``, or whichever it is."""
    found = []
    for index, text in enumerate(texts):
        try:
            found.append(read(text))
        except InvalidFilter as error:
            raise InvalidSetting(f"thresholds.{index}", error.sentence) from None
    return found


def broken(judged: Iterable[Judged]) -> str:
    """Those that did not hold, with what was measured: ``p95 < 2ms (3.1ms)``; empty where all did."""
    missed = [one for one in judged if not one["held"]]
    return ", ".join(f"{one['text']} ({written(one['value'], read(one['text']).measure.unit)})" for one in missed)


def judge(thresholds: Iterable[Threshold], summary: Mapping[str, Any]) -> list[Judged]:
    """Each of them held against a run's summary."""
    thresholds = list(thresholds)
    return judge_figures(thresholds, {one.measure.name: one.measure.of(summary) for one in thresholds})


def judge_figures(thresholds: Iterable[Threshold], figures: Mapping[str, float | None]) -> list[Judged]:
    """Each of them held against a run's figures, by name and in their units."""
    values = [(one, figures.get(one.measure.name)) for one in thresholds]
    return [Judged(text=one.text, value=value, held=one.holds(value)) for one, value in values]


def passed(judged: Sequence[Judged]) -> bool | None:
    """Whether all held; ``None`` where none was demanded."""
    return all(one["held"] for one in judged) if judged else None
