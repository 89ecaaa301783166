"""The points of a chart as a table: for exports, notebooks, and readers whose browser runs no scripts. Pure.

::

    from telemetry.charts.points import NAMES, points
    pandas.DataFrame(points(chart), columns=NAMES)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from telemetry.charts.charts import Axis, Chart, Point, Series
from telemetry.formatting import KB, UNKNOWN, ms, number, per_s, sig3, size, us

ABOUT = ("name", "role", "topology", "metric")
NAMES = ("series", *ABOUT[1:], "x", "category", "y", "low", "high", "n", "y_unit")
"""Columns of ``points``; ``low`` and ``high`` are ends along x in a chart with a ``band``, else along y."""

WRITTEN: Mapping[str, Callable[[float], str]] = {
    "µs": us,
    "ms": ms,
    "bytes": size,
    "kB": lambda value: size(value * KB),
    "%": lambda value: f"{sig3(value)}\u202f%",
    "/s": per_s,
}
"""By the unit of an axis, as ``static/js/estimates.js`` writes its values; any other unit follows the number."""


def points(chart: Chart) -> Iterator[list[Any]]:
    """A row of ``NAMES`` for each point, in full precision."""
    low, high = _ends(chart)
    for series in chart["series"]:
        about = [series.get(name, "") for name in ABOUT]
        for point in series["points"]:
            ends = [point.get(low), point.get(high)]
            yield [*about, point["x"], _category(chart, point), point["y"], *ends, point["n"], chart["y"]["unit"]]


def table(chart: Chart) -> tuple[list[str], list[list[str]]]:
    """The same for people: the heads and a row for each point, values with their units."""
    low, high = _ends(chart)
    over = chart["x"] if chart.get("band") else chart["y"]
    rows = [
        [
            _name(series),
            _category(chart, point) or text(chart["x"], point["x"]),
            text(chart["y"], point["y"]),
            f"{text(over, point[low])} to {text(over, point[high])}" if point.get(low) is not None else "",
            str(point["n"]),
        ]
        for series in chart["series"]
        for point in series["points"]
    ]
    return ["Series", chart["x"]["label"], chart["y"]["label"], chart.get("band") or "95 % interval", "n"], rows


def text(axis: Axis, value: Any) -> str:
    """A value on an axis, with its unit."""
    if number(value) is None:
        return UNKNOWN
    if write := WRITTEN.get(axis["unit"]):
        return write(value)
    return f"{sig3(value)}\u202f{axis['unit']}" if axis["unit"] else sig3(value)


def _name(series: Series) -> str:
    """With its role, where that says more than the name: as the legend has it."""
    role = series["role"]
    return series["name"] if role == "measured" or role in series["name"] else f"{series['name']} ({role})"


def _ends(chart: Chart) -> tuple[str, str]:
    return ("x_low", "x_high") if chart.get("band") else ("low", "high")


def _category(chart: Chart, point: Point) -> str:
    """The word at its place, on an axis of words."""
    categories = chart["x"].get("categories") or []
    place = int(point["x"])
    return str(categories[place]) if 0 <= place < len(categories) else ""
