"""Thresholds that a run must meet to pass: ``p95 < 2ms``, ``not_found = 0``. Pure.

A threshold is one comparison of ``telemetry.filters`` whose field is a measure. In a threshold on a
response time, requests without an answer count as slower than any bound (``bounds`` of ``telemetry.summary.summary``).
Otherwise a run that loses its slow requests would pass.
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
    """The original text."""
    measure: Measure
    op: str
    limit: float
    """In the measure's unit."""

    def holds(self, value: float | None) -> bool:
        """Whether ``value`` meets it. A missing value never does."""
        return value is not None and bool(_HOLDS[self.op](value, self.limit))


class Judged(TypedDict):
    """The result of a threshold for a completed run."""

    text: str
    value: float | None
    """The run's value in the measure's unit; ``None`` if it was not measured or is unbounded (see ``why``)."""
    held: bool
    why: str
    """The number of requests without an answer, if it matters; otherwise empty, also for runs judged earlier."""


COUNTED = ("requests", "answered")
"""Additional figures needed to judge runs collected before ``bounds`` existed."""


def read(text: str, known: Mapping[str, Measure] | None = None) -> Threshold:
    """Parse a threshold on one of the ``known`` measures, by default any. Raises ``InvalidFilter``."""
    known = measures() if known is None else known
    tree = parse(text)
    if not isinstance(tree, Comparison):
        raise InvalidFilter(0, "a threshold is one comparison, such as p95 < 2ms or not_found = 0")
    measure = known.get(tree.field.lower())
    if measure is None:
        raise InvalidFilter(tree.at, f"there is no figure “{tree.field:.40}”{did_you_mean(tree.field, known)}")
    if tree.op not in _HOLDS:
        raise InvalidFilter(tree.at, f"measures are compared with one of {' '.join(_HOLDS)}, not with {tree.op}")
    try:
        limit = quantity(tree.value, measure.unit)
    except InvalidValue as error:
        raise InvalidFilter(tree.value_at, error.sentence) from None
    return Threshold(text, measure, tree.op, limit)


def read_all(texts: Iterable[str], known: Mapping[str, Measure] | None = None) -> list[Threshold]:
    """Parse the thresholds of a definition. Raises ``InvalidSetting`` for ``thresholds.0`` or another index."""
    found = []
    for index, text in enumerate(texts):
        try:
            found.append(read(text, known))
        except InvalidFilter as error:
            raise InvalidSetting(f"thresholds.{index}", error.sentence) from None
    return found


def broken(judged: Iterable[Judged], known: Mapping[str, Measure] | None = None) -> str:
    """The broken thresholds with the measured values: ``p95 < 2ms (3.1ms)``; empty if all were met."""
    return ", ".join(f"{one['text']} ({_measured(one, known)})" for one in judged if not one["held"])


def _measured(one: Judged, known: Mapping[str, Measure] | None) -> str:
    value, why = one["value"], one.get("why", "")
    measured = "" if value is None and why else written(value, read(one["text"], known).measure.unit)
    return "; ".join(filter(None, (measured, why)))


def judge(thresholds: Iterable[Threshold], summary: Mapping[str, Any]) -> list[Judged]:
    """Evaluate all thresholds on a run's summary."""
    thresholds = list(thresholds)
    wanted = [*(COMMON[name] for name in COUNTED), *(one.measure for one in thresholds)]
    return judge_figures(thresholds, figures_in(summary, wanted), summary.get("bounds"))


def judge_figures(
    thresholds: Iterable[Threshold], figures: Mapping[str, float | None], bounds: Mapping[str, Any] | None
) -> list[Judged]:
    """Evaluate all thresholds on a run's figures, by key and in their units, and its summary's ``bounds``."""
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
    """``bounds`` for a run collected before they existed: a percentile with enough answers is used unchanged, since the
    effect of the other requests was not stored."""
    requests, answered = (int(figures.get(name) or 0) for name in COUNTED)
    known = {
        f"p{percent}": figures.get(f"p{percent}") for percent in PERCENTILES if 100 * answered >= percent * requests
    }
    return {"requests": requests, "unanswered": requests - answered, **dict.fromkeys(STATISTICS), **known}


def passed(judged: Sequence[Judged]) -> bool | None:
    """Whether all thresholds were met; ``None`` without thresholds."""
    return all(one["held"] for one in judged) if judged else None
