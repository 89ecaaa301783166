"""The plots of a study as charts: published values, and what its runs came to. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from overlay.core.engines import SIMULATED
from telemetry.charts.charts import Chart, chart, estimate, point, series
from telemetry.studies.judging import Drawn, Result, Value
from telemetry.studies.study import X


def charts(result: Result) -> list[Chart]:
    """One for each plot that has a value."""
    drawn = [_chart(result, one) for one in result.drawn]
    return [one for one in drawn if one["series"]]


def _chart(result: Result, drawn: Drawn) -> Chart:
    plot, names = drawn.plot, list(dict.fromkeys(name for name, _ in drawn.values))
    categories = list(dict.fromkeys(x for _, x in drawn.values if isinstance(x, str)))
    axes = {**plot.x, "categories": categories, "named": True} if categories else plot.x
    lines: list[dict[str, Any]] = []
    for name in names:
        values = {x: value for (one, x), value in drawn.values.items() if one == name}
        lines += _series(name, values, categories)
    notes = [f"Published values: {plot.source.place}."] if plot.source and any(_published(drawn)) else []
    if result.seeds:
        notes.append(f"Simulated values: {result.seeds} seeds, 95 % interval over seeds.")
    return chart(f"study-{result.study.id}-{plot.id}", plot.title, axes, plot.y, lines, notes)


def _series(name: str, values: Mapping[X, Value], categories: Sequence[X]) -> list[dict[str, Any]]:
    def at(x: X) -> float:
        return float(categories.index(x)) if isinstance(x, str) else x

    places = sorted(values, key=at)
    published = [point(at(x), said) for x in places if (said := values[x].published) is not None]
    found = [estimate(at(x), values[x].found) for x in places if values[x].found["value"] is not None]
    return [
        series(f"{name}, published", "published", name, published),
        series(f"{name}, {SIMULATED}", SIMULATED, name, found),
    ]


def _published(drawn: Drawn) -> list[bool]:
    return [value.published is not None for value in drawn.values.values()]
