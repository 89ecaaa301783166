"""Shared parts of a comparison's charts: choice of the x axis, units, titles, averaging."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from brokerweb.comparison.parameters import Parameter, order
from brokerweb.comparison.services import Comparison, Group, grouped
from overlay.core.engines import SIMULATED
from overlay.systems.registry import of_all
from telemetry.charts.charts import axis
from telemetry.formatting import joined
from telemetry.lake.configurations import in_words
from telemetry.measures import Measure

UNITS = {"us": ("µs", 1.0), "share": ("%", 100.0), "per_s": ("/s", 1.0)}
"""Axis unit of a measure's unit, and the factor to convert to it."""

BROKERS = "brokers"
LAST = (BROKERS, "links", "engine")
"""Parameters that are rarely useful on an axis: chosen only if there are no others."""


def x_of(found: Comparison, but: Container[str] = ()) -> Parameter | None:
    """The parameter of the x axis: the requested one, otherwise the most useful one. Numbers come before words, unless
    all lines would overlap; parameters that are grouped by come last. ``None`` if nothing differs.
    """
    known = {one.name: one for one in found.differing if one.name not in but}
    if found.asked.x in known:
        return known[found.asked.x]
    numbers = [one.name for one in found.numbers if one.name != BROKERS or _are_swept(found)]
    first = of_all(lambda system: system.presentation.axis_fields)
    numbers.sort(key=lambda name: first.index(name) if name in first else len(first))
    words = [name for name in known if name not in numbers and name not in LAST]
    spread = [name for name in numbers if _is_spread(found, name)]
    suits = [name for name in dict.fromkeys((*spread, *words, *numbers, *known)) if name in known]
    suits.sort(key=lambda name: None in known[name].values)  # configurations without a value would not be drawn
    free = [name for name in suits if name not in found.asked.by]
    return known[(free or suits)[0]] if suits else None


def _are_swept(found: Comparison) -> bool:
    """Whether a kind of topology has several sizes. Otherwise the number of brokers only identifies the topology, and
    the topology's name is clearer.
    """
    configurations = found.configurations.values()
    return len({one.factors["topology"] for one in configurations}) > len({one.kind for one in configurations})


def _is_spread(found: Comparison, number: str) -> bool:
    """Whether topologies have several values along a number. If each has only one value, as in unrelated experiments,
    its points do not form lines.
    """
    at: dict[tuple[Any, Any], set[Any]] = {}
    for one in found.configurations.values():
        at.setdefault((one.factors["topology"], one.factors["engine"]), set()).add(one.factors.get(number))
    return any(len(values) > 1 for values in at.values()) or len(at) <= len(set().union(*at.values()))


def places(x: Parameter, groups: Iterable[Group]) -> list[Any]:
    """The ordered values of a parameter: categories of a categorical axis."""
    return sorted({group.factors[x.name] for group in groups}, key=order)


def over_groups(found: Comparison) -> str:
    """Description of the table's rows."""
    return joined([one.title.lower() for one in found.differing if one.name in found.asked.by]) or "configuration"


def axis_of(measure: Measure, aggregate: str) -> dict[str, Any]:
    unit, _ = UNITS.get(measure.unit, (measure.unit, 1.0))
    label = measure.title if aggregate == "mean" else f"{measure.title}, {aggregate} of the replicates"
    return axis(label, unit, log=measure.unit in ("us", "ms", "s"), zero=measure.is_count or measure.unit == "bytes")


def scale(measure: Measure) -> float:
    return UNITS.get(measure.unit, ("", 1.0))[1]


def scaled(one: Mapping[str, Any], times: float) -> dict[str, Any]:
    def of(value: float | None) -> float | None:
        return None if value is None else value * times

    return {
        "y": of(one["value"]),
        "low": of(one["low"]),
        "high": of(one["high"]),
        "n": one["n"],
        "replicates": [value * times for value in one["replicates"]],
    }


def regrouped(found: Comparison, by: Sequence[str]) -> list[Group]:
    """Groups by other parameters than the table's, with the drawn measure only."""
    asked = replace(found.asked, metrics=found.asked.metrics[:1])
    return grouped(asked, found.selection.runs, found.configurations, found.differing, by)


def pooled(found: Comparison, groups: Iterable[Group]) -> list[str]:
    """Parameters that a chart's points average over."""
    several = [group.configurations for group in groups if len(group.configurations) > 1]
    said = [one for one in found.differing if one.name not in ("kind", "links", "engine")]
    if "topology" in {one.name for one in said}:
        said = [one for one in said if one.name != "brokers"]
    others = [one.title.lower() for one in said if any(_varies(found, one.name, names) for names in several)]
    if not others:
        return []
    return [
        f"Each point is averaged over {joined(others)} for each seed; n counts the seeds. "
        "Group by these parameters to separate them."
    ]


def _varies(found: Comparison, name: str, configurations: Iterable[str]) -> bool:
    return len({found.configurations[one].factors.get(name) for one in configurations}) > 1


def left_out(count: int, most: int, things: str) -> list[str]:
    return (
        [f"The first {most} of {count} {things}. Narrow the filter or change the grouping to see others."]
        if count > most
        else []
    )


def titled(found: Comparison, over: str) -> str:
    return title(found.asked.measure.title, found, over)


def title(what: str, found: Comparison, over: str) -> str:
    """ "Response time against brokers, 30 s measured": the measure and what it is drawn over."""
    only = found.shared.get("system")
    said = of_all(lambda system: system.presentation.title_fields if only in (None, system.name) else ())
    shared = [in_words(name, found.shared[name]) for name in said if name in found.shared]
    return ", ".join(
        [f"{what} against {over}", *shared, *([SIMULATED] if found.shared.get("engine") == SIMULATED else [])]
    )
