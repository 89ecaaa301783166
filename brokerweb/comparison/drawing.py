"""A comparison as charts: plain JSON of bounded size, in the shape of ``telemetry.charts`` where that is enough.

Counterparts: ``static/js/compare*.js`` draw it. Boxes and differences, and the heat map, have shapes of their own::

    {id, title, kind: box|difference, axis: {label, unit, log, zero}, legend, notes,
     rows: [{number, label, short, topology, role, n, y, low, high, box?, replicates?, verdict?}]}
    {id, title, x: {label, categories}, y: {label, categories}, value: {label, unit, log}, notes,
     cells: [[x, y, value, low, high, n]]}
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from brokerweb.comparison import axes
from brokerweb.comparison.parameters import Parameter
from brokerweb.comparison.services import Comparison, Group, legend, short
from overlay.engines import SIMULATED
from telemetry import grouping
from telemetry.charts import Chart, axis, chart, estimate, point, series
from telemetry.configurations import in_words
from telemetry.measures import Measure

MOST_SERIES, MOST_ROWS, MOST_CATEGORIES = 24, 60, 60
MOST_RAW, MOST_RAW_IN_ALL = 2_000, 6_000
"""Single replicates drawn, of a series and of a chart."""
STRATEGY = "search"


def drawn(found: Comparison, groups: Sequence[Group]) -> dict[str, Any]:
    """Every chart that these runs have; ``groups`` in the order of the table."""
    if not groups:
        return {}
    made = {"lines": _lines(found), "box": _boxes(found, groups), "heat": _heat(found)}
    if found.baseline:
        made["difference"] = _differences(found, groups)
    return {name: one for name, one in made.items() if one is not None}


def series_of(found: Comparison, x: Parameter) -> tuple[str, ...]:
    """The parameters that tell lines apart."""
    if found.asked.by:
        return tuple(name for name in found.asked.by if name != x.name)
    names = [one.name for one in found.differing if not one.is_number and one.name not in ("links", "engine")]
    if "topology" in names and "kind" in names:
        names.remove("topology")
    return tuple(names[:1])


def _lines(found: Comparison) -> Chart | None:
    x = axes.x_of(found)
    if x is None:
        return None
    measure, names = found.asked.measure, series_of(found, x)
    lines: dict[tuple[Any, ...], list[Group]] = {}
    for group in axes.regrouped(found, [*names, x.name]):
        if group.factors[x.name] is not None:
            lines.setdefault((*(group.factors[name] for name in names), group.engine), []).append(group)
    shown = list(lines.items())[:MOST_SERIES]
    raw = _raw(found.asked.raw, [group for _, groups in shown for group in groups], measure)
    made = [_line(key, names, groups, x, measure, raw) for key, groups in shown]
    made += [_published(key, names, groups, x, measure) for key, groups in shown]
    notes = [
        *axes.pooled(found, [group for _, groups in shown for group in groups]),
        *axes.left_out(len(lines), MOST_SERIES, "lines"),
    ]
    if any(one["role"] == "published" and one["points"] for one in made):
        notes.append(
            "Published values: Table B.1, each measured once; rows that are damaged in the source are in none."
        )
    if found.asked.raw and not raw:
        notes.append("Single replicates are too many to be drawn here.")
    return chart(
        "lines",
        axes.titled(found, x.title.lower()),
        axis(x.axis),
        axes.axis_of(measure, found.asked.aggregate),
        made,
        notes,
    )


def _line(
    key: tuple[Any, ...], names: Sequence[str], groups: Sequence[Group], x: Parameter, measure: Measure, raw: bool
) -> dict[str, Any]:
    roles = {group.role for group in groups}
    points = [estimate(group.factors[x.name], _plain(group, measure, raw), axes.scale(measure)) for group in groups]
    role = roles.pop() if len(roles) == 1 else "shaped"
    return series(_name(key, names, measure), role, _colour(key, names, groups), points)


def _published(
    key: tuple[Any, ...], names: Sequence[str], groups: Sequence[Group], x: Parameter, measure: Measure
) -> dict[str, Any]:
    points = [
        point(group.factors[x.name], group.published * axes.scale(measure)) for group in groups if group.published
    ]
    name = f"{_name(key, names, measure)}: published, Table B.1"
    return series(name, "published", _colour(key, names, groups), points)


def _colour(key: tuple[Any, ...], names: Sequence[str], groups: Sequence[Group]) -> str:
    """What a line's colour stands for: its strategy where lines are told apart by that, else its kind of topology."""
    if STRATEGY in names:
        return str(key[names.index(STRATEGY)])
    kinds = {group.kind for group in groups}
    is_of_topology = not names or set(names) & {"topology", "kind"}
    return kinds.pop() if len(kinds) == 1 and is_of_topology else ""


def _name(key: tuple[Any, ...], names: Sequence[str], measure: Measure) -> str:
    said = [
        str(value) if name in ("topology", "kind", "system") else in_words(name, value)
        for name, value in zip(names, key, strict=False)
        if value not in (None, "")
    ]
    return ", ".join([*said, *([key[-1]] if key[-1] == SIMULATED else [])]) or measure.title


def _raw(is_asked: bool, groups: Sequence[Group], measure: Measure) -> bool:
    """Whether the single replicates have room."""
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
        "From the least to the most of the replicates; the box from the lower to the upper quartile, the median in it, "
        "the mean as a dot."
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
    notes = [f"Mean minus that of {baseline.label}, with its 95 % interval; grey where the interval holds zero."]
    if len(held) > 19:
        notes.append(
            f"Each is a comparison of its own: of {len(held)} without any difference "
            f"about {round(len(held) / 20)} would still be shown to differ."
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
    x = axes.x_of(found)
    y = _second(found, x)
    if x is None or y is None:
        return None
    measure = found.asked.measure
    groups = [group for group in axes.regrouped(found, [y.name, x.name]) if group.factors[x.name] is not None]
    across = list(dict.fromkeys(sorted(group.factors[x.name] for group in groups)))[:MOST_CATEGORIES]
    down = list(dict.fromkeys(_row_of(group, y) for group in groups))[:MOST_CATEGORIES]
    cells = []
    for group in groups:
        at, row, one = (
            group.factors[x.name],
            _row_of(group, y),
            axes.scaled(group.estimates[measure.name].as_dict(), axes.scale(measure)),
        )
        if at in across and row in down and one["y"] is not None:
            cells.append([across.index(at), down.index(row), one["y"], one["low"], one["high"], one["n"]])
    return {
        "id": "heat",
        "title": axes.titled(found, f"{x.title.lower()} and {y.title.lower()}"),
        "x": {"label": x.axis, "categories": [f"{value:g}" for value in across]},
        "y": {"label": y.axis, "categories": down},
        "value": axes.axis_of(measure, found.asked.aggregate),
        "cells": cells,
        "notes": axes.pooled(found, groups),
    }


def _second(found: Comparison, x: Parameter | None) -> Parameter | None:
    """The other parameter of the heat map: the one that is grouped by, else another number, else any."""
    others = [one for one in found.differing if x is None or one.name != x.name]
    asked_for = [one for one in others if one.name in found.asked.by]
    # How many brokers there are the topology says; it tells more.
    numbers = [one for one in others if one.is_number and len(one.values) > 1 and one.name != "brokers"]
    return next(iter([*asked_for, *numbers, *others]), None)


def _row_of(group: Group, y: Parameter) -> str:
    value = group.factors[y.name]
    shown = "–" if value in (None, "") else f"{value:g}" if isinstance(value, float) else str(value)
    return f"{shown}, simulated" if group.engine == SIMULATED else shown
