"""A comparison as charts: plain JSON of bounded size, in the format of ``telemetry.charts.charts`` where possible.

Counterparts: ``static/js/compare*.js`` draw it. Box plots, differences and the heat map have their own formats::

    {id, title, kind: box|difference, axis: {label, unit, log, zero}, legend, notes,
     rows: [{number, label, short, topology, role, n, y, low, high, box?, replicates?, verdict?}]}
    {id, title, x: {label, categories}, y: {label, categories}, value: {label, unit, log}, notes,
     shades: {linear: [from, to], log: [from, to] | null, within_noise}, cells: [[x, y, value, low, high, n]]}
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from brokerweb.comparison import axes
from brokerweb.comparison.parameters import Parameter, said
from brokerweb.comparison.query import Asked
from brokerweb.comparison.services import Comparison, Group, legend, short
from overlay.core.engines import SIMULATED
from overlay.systems.registry import of_all
from telemetry.charts.charts import Chart, axis, chart, estimate, point, series
from telemetry.lake.configurations import in_words
from telemetry.measures import Measure
from telemetry.reports import grouping
from telemetry.statistics.intervals import LOG
from telemetry.systems.contract import Telemetry
from telemetry.systems.registry import telemetry_of

MOST_SERIES, MOST_ROWS, MOST_CATEGORIES = 24, 60, 60
MOST_RAW, MOST_RAW_IN_ALL = 2_000, 6_000
"""Maximum number of individual replicates drawn, per series and per chart."""
MOST_NUMBERS = 8
"""Maximum number of values of a number that distinguishes lines over a categorical axis."""
WITHIN_NOISE = (
    "Differences are within noise: the intervals of the minimum and the maximum overlap, so all cells have one tint."
)
DECADE = 10.0
"""Minimum span of a logarithmic colour scale; otherwise a few per cent would look like a large factor."""
TOPOLOGIES = ("topology", "kind")
"""Pairs of parameters where one implies the other."""


def drawn(found: Comparison, groups: Sequence[Group]) -> dict[str, Any]:
    """All charts of these runs; ``groups`` in the order of the table."""
    if not groups:
        return {}
    made = {"lines": _lines(found), "box": _boxes(found, groups), "heat": _heat(found)}
    if found.baseline:
        made["difference"] = _differences(found, groups)
    return {name: one for name, one in made.items() if one is not None}


def series_of(found: Comparison, x: Parameter) -> tuple[str, ...]:
    """The parameters that distinguish lines: a category, or else a number with few values; with a categorical axis and
    no others, the axis parameter itself, for its colours.
    """
    if found.asked.by:
        return tuple(name for name in found.asked.by if name != x.name)
    own = TOPOLOGIES if x.name in TOPOLOGIES else (x.name,)
    words = [one.name for one in found.differing if not one.is_number and one.name not in ("links", "engine", *own)]
    if set(words) >= set(TOPOLOGIES):
        words.remove("topology")
    if words:
        return tuple(words[:1])
    numbers = (
        one.name
        for one in found.numbers
        if one.name not in (axes.BROKERS, x.name) and len(one.values) <= MOST_NUMBERS and _has_lines(found, one, x)
    )
    if name := next(numbers, ""):
        return (name,)
    return (x.name,) if x.name in (*TOPOLOGIES, *_hues()) else ()


def _has_lines(found: Comparison, one: Parameter, x: Parameter) -> bool:
    """Whether a value of the parameter was run with several numbers on the axis; categories are not joined anyway."""
    if not x.is_number:
        return True
    groups = axes.regrouped(found, [one.name, x.name])
    return len(groups) > len({(group.factors[one.name], group.engine) for group in groups})


def _hues() -> list[str]:
    """The settings whose values have colours of their own."""
    return of_all(lambda system: (system.presentation.hue_field,))


def _lines(found: Comparison) -> Chart | None:
    x = axes.x_of(found)
    if x is None:
        return None
    measure, names = found.asked.measure, series_of(found, x)
    groups = axes.regrouped(found, [*(name for name in names if name != x.name), x.name])
    along = _Along(x, groups)
    lines: dict[tuple[Any, ...], list[Group]] = {}
    for group in groups:
        if along.has(group):
            lines.setdefault((*(group.factors[name] for name in names), group.engine), []).append(group)
    shown = list(lines.items())[:MOST_SERIES]
    raw = _raw(found.asked.raw, [group for _, groups in shown for group in groups], measure)
    made = [_line(key, names, groups, along, measure, raw) for key, groups in shown]
    made += [_published(found, key, names, groups, along) for key, groups in shown]
    notes = [
        *axes.pooled(found, [group for _, groups in shown for group in groups]),
        *axes.left_out(len(lines), MOST_SERIES, "lines"),
        *axes.left_out(len(along.places), MOST_CATEGORIES, f"values of {x.title.lower()}"),
    ]
    published = [group for _, groups in shown for group in groups if group.published]
    notes += filter(None, dict.fromkeys(_telemetry(found, group).published_note for group in published))
    if found.asked.raw and not raw:
        notes.append("Individual replicates are hidden: there are too many.")
    return chart(
        "lines",
        axes.titled(found, x.title.lower()),
        along.axis,
        axes.axis_of(measure, found.asked.aggregate),
        made,
        notes,
    )


class _Along:
    """Positions of groups on the x axis: the number, or the index of the category."""

    def __init__(self, x: Parameter, groups: Sequence[Group]) -> None:
        self._x = x
        self.places = [] if x.is_number else axes.places(x, groups)
        self._at = {value: at for at, value in enumerate(self.places[:MOST_CATEGORIES])}

    @property
    def axis(self) -> dict[str, Any]:
        if self._x.is_number:
            return axis(self._x.axis)
        return axis(self._x.axis, categories=[said(value) for value in self._at])

    @property
    def is_line(self) -> bool:
        """Categories are not joined by lines."""
        return self._x.is_number

    def has(self, group: Group) -> bool:
        value = group.factors[self._x.name]
        return value is not None if self._x.is_number else value in self._at

    def of(self, group: Group) -> float:
        value = group.factors[self._x.name]
        return float(value) if self._x.is_number else self._at[value]


def _line(
    key: tuple[Any, ...], names: Sequence[str], groups: Sequence[Group], along: _Along, measure: Measure, raw: bool
) -> dict[str, Any]:
    roles = {group.role for group in groups}
    points = [estimate(along.of(group), _plain(group, measure, raw), axes.scale(measure)) for group in groups]
    role = roles.pop() if len(roles) == 1 else "shaped"
    return series(_name(key, names, measure), role, _colour(key, names, groups), points, line=along.is_line)


def _published(
    found: Comparison, key: tuple[Any, ...], names: Sequence[str], groups: Sequence[Group], along: _Along
) -> dict[str, Any]:
    measure = found.asked.measure
    points = [point(along.of(group), group.published * axes.scale(measure)) for group in groups if group.published]
    places = dict.fromkeys(_telemetry(found, group).published_in for group in groups if group.published)
    name = f"{_name(key, names, measure)}: {', '.join(['published', *filter(None, places)])}"
    return series(name, "published", _colour(key, names, groups), points, line=along.is_line)


def _telemetry(found: Comparison, group: Group) -> Telemetry:
    """That of the group's system."""
    return telemetry_of({"system": found.configurations[group.configurations[0]].factors["system"]})


def _colour(key: tuple[Any, ...], names: Sequence[str], groups: Sequence[Group]) -> str:
    """The value that determines a line's colour: that of a setting with colours of its own, or the kind of topology."""
    for name in _hues():
        if name in names:
            return str(key[names.index(name)])
    kinds = {group.kind for group in groups}
    is_of_topology = not names or set(names) & {"topology", "kind"}
    return kinds.pop() if len(kinds) == 1 and is_of_topology else ""


def _name(key: tuple[Any, ...], names: Sequence[str], measure: Measure) -> str:
    told = [
        str(value) if name in ("topology", "kind", "system") else in_words(name, value)
        for name, value in zip(names, key, strict=False)
        if value not in (None, "")
    ]
    return ", ".join([*told, *([key[-1]] if key[-1] == SIMULATED else [])]) or measure.title


def _raw(is_asked: bool, groups: Sequence[Group], measure: Measure) -> bool:
    """Whether individual replicates are drawn."""
    counts = [len(group.estimates[measure.name].replicates) for group in groups]
    return is_asked and sum(counts) <= MOST_RAW_IN_ALL


def _plain(group: Group, measure: Measure, raw: bool) -> dict[str, Any]:
    found = group.estimates[measure.name].as_dict()
    return {**found, "replicates": found["replicates"][:MOST_RAW] if raw else ()}


def _boxes(found: Comparison, groups: Sequence[Group]) -> dict[str, Any]:
    measure = found.asked.measure
    shown = groups[:MOST_ROWS]
    rows = []
    for group in shown:
        one, times = group.estimates[measure.name], axes.scale(measure)
        box = grouping.quartiles(one.replicates)
        row = axes.scaled(one.as_dict(), times) | {"box": [value * times for value in box] if box else None}
        rows.append(
            {**_about(found, group), **row, "replicates": row["replicates"][:MOST_RAW] if found.asked.raw else []}
        )
    notes = [
        "Whiskers: minimum and maximum of the n replicates. With three or more, a box shows the quartiles "
        f"and the median. Below: the {found.asked.middle} as a dot{_with_interval(found.asked)}."
    ]
    notes += axes.left_out(len(groups), MOST_ROWS, "rows")
    return {
        "id": "box",
        "kind": "box",
        "title": axes.titled(found, axes.over_groups(found)),
        "axis": axes.axis_of(measure, "mean"),
        "legend": legend(found),
        "rows": rows,
        "notes": notes,
    }


def _with_interval(asked: Asked) -> str:
    return ", without interval" if asked.aggregate in ("min", "max") else " with its 95 % interval"


def _differences(found: Comparison, groups: Sequence[Group]) -> dict[str, Any]:
    measure, baseline = found.asked.measure, found.baseline
    assert baseline is not None
    held = [group for group in groups if group.difference]
    rows = []
    for group in held[:MOST_ROWS]:
        assert group.difference is not None
        told = group.difference
        numbers = {"y": told.value, "low": told.low, "high": told.high}
        times = axes.scale(measure)
        scaled = {name: None if value is None else value * times for name, value in numbers.items()}
        rows.append({**_about(found, group), **scaled, "n": told.n, "verdict": told.verdict, "share": told.share})
    unit = axes.UNITS.get(measure.unit, (measure.unit, 1.0))[0]
    of = "the interval is that of their ratio" if measure.scale == LOG else " with its 95 % interval"
    mean = measure.mean[:1].upper() + measure.mean[1:]
    notes = [f"{mean} minus that of {baseline.label}; {of}. Grey: the interval includes zero."]
    if len(held) > 19:
        notes.append(
            f"Not corrected for multiple testing: of {len(held)} comparisons without a real difference, "
            f"about {round(len(held) / 20)} are still shown to differ."
        )
    return {
        "id": "difference",
        "kind": "difference",
        "title": f"{measure.title}: difference to the baseline",
        "axis": axis(f"Difference of {measure.title[:1].lower()}{measure.title[1:]}", unit),
        "legend": legend(found),
        "rows": rows,
        "notes": [*notes, *axes.left_out(len(held), MOST_ROWS, "rows")],
    }


def _about(found: Comparison, group: Group) -> dict[str, Any]:
    about = {"number": group.number, "label": group.label, "short": short(found, group)}
    return {**about, "topology": group.kind, "role": group.role}


def _heat(found: Comparison) -> dict[str, Any] | None:
    x = axes.x_of(found, but=(found.asked.y,))
    y = second(found, x)
    if x is None or y is None:
        return None
    measure = found.asked.measure
    groups = axes.regrouped(found, [y.name, x.name])
    if x.is_number:
        groups = [group for group in groups if group.factors[x.name] is not None]
    across = {value: at for at, value in enumerate(axes.places(x, groups)[:MOST_CATEGORIES])}
    tells_engine = "engine" in (x.name, y.name)
    rows = list(dict.fromkeys(_row_of(group, y, tells_engine) for group in groups))
    down = {row: at for at, row in enumerate(rows[:MOST_CATEGORIES])}
    cells = []
    for group in groups:
        at, row = across.get(group.factors[x.name]), down.get(_row_of(group, y, tells_engine))
        one = axes.scaled(group.estimates[measure.name].as_dict(), axes.scale(measure))
        if at is not None and row is not None and one["y"] is not None:
            cells.append([at, row, one["y"], one["low"], one["high"], one["n"]])
    shades = _shades(cells)
    return {
        "id": "heat",
        "title": axes.titled(found, f"{x.title.lower()} and {y.title.lower()}"),
        "x": {"label": x.axis, "categories": [said(value) for value in across]},
        "y": {"label": y.axis, "categories": list(down)},
        "value": axes.axis_of(measure, found.asked.aggregate),
        "cells": cells,
        "shades": shades,
        "notes": [
            _in_cells(found.asked),
            *([WITHIN_NOISE] if shades["within_noise"] else []),
            *axes.pooled(found, groups),
        ],
    }


def _shades(cells: Sequence[Sequence[Any]]) -> dict[str, Any]:
    """The range of the colour scale, and whether differences exceed noise. A linear scale starts at zero."""
    ordered = sorted(cells, key=lambda cell: cell[2])
    least, most = (ordered[0], ordered[-1]) if ordered else ([0.0] * 3, [0.0] * 3)
    is_known = len(ordered) > 1 and least[4] is not None and most[3] is not None
    return {
        "linear": [min(0.0, least[2]), max(0.0, most[2])],
        "log": [min(least[2], most[2] / DECADE), most[2]] if least[2] > 0 else None,
        "within_noise": bool(is_known and most[3] <= least[4]),
    }


def _in_cells(asked: Asked) -> str:
    return f"Each cell is the {asked.middle} of its n replicates{_with_interval(asked)}; the table lists all values."


def second(found: Comparison, x: Parameter | None) -> Parameter | None:
    """The y parameter of the heat map: the requested one, otherwise a grouped one, a number, or any."""
    own = TOPOLOGIES if x and x.name in TOPOLOGIES else (x.name,) if x else ()
    others = [one for one in found.differing if one.name not in own]
    asked_for = [one for one in found.differing if one.name == found.asked.y]
    by = [one for one in others if one.name in found.asked.by]
    # The topology implies the number of brokers and says more.
    numbers = [one for one in others if one.is_number and len(one.values) > 1 and one.name != axes.BROKERS]
    words = [one for one in others if one.name not in axes.LAST]
    return next(iter([*asked_for, *by, *numbers, *words, *others]), None)


def _row_of(group: Group, y: Parameter, tells_engine: bool) -> str:
    shown = said(group.factors[y.name])
    return f"{shown}, simulated" if group.engine == SIMULATED and not tells_engine else shown
