"""The part of a report with the key figures that only one system has, for configurations of it. Pure.

Counterparts: each run's summary has the figures, ``comparison`` adds this part, and both the page of a report and its
file show ``columns``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from overlay.core.engines import ENGINES
from telemetry.charts.charts import Chart, axis, chart
from telemetry.lake.configurations import ChosenRun
from telemetry.measures import Measure
from telemetry.reports.series import of_engine
from telemetry.statistics.intervals import interval
from telemetry.systems.registry import measures_of, telemetry_of

PART = "own"
TIMES = ("us", "ms", "s")
AXES: Mapping[str, tuple[str, float]] = {
    "us": ("µs", 1.0),
    "B": ("bytes", 1.0),
    "per_s": ("/s", 1.0),
    "share": ("%", 100.0),
}
"""By the unit of a measure, that of an axis and its factor; others are the same."""
Row = Mapping[str, Any]


def of_configuration(group: Sequence[ChosenRun]) -> dict[str, Any]:
    """``own``: the figures of its system as intervals over replicates, by the keys of their measures."""
    found = {
        measure.key: interval([measure.of(run.manifest.get("summary") or {}) for run in group], measure.scale)
        for measure, _ in _figures(group[0].system)
    }
    return {PART: found} if any(one["n"] for one in found.values()) else {}


def columns(rows: Sequence[Row]) -> dict[str, tuple[str, str]]:
    """Key and unit by title, for the table; empty without such figures."""
    return {measure.title: (measure.key, measure.unit) for measure, _ in _all(rows)}


def charts(rows: Sequence[Row]) -> Iterator[Chart]:
    """The main ones against configuration, without times where delays of deliveries are drawn."""
    has_delays = any("deliveries" in row for row in rows)
    for measure, is_main in _all(rows):
        if is_main and not (has_delays and measure.unit in TIMES):
            yield _chart(measure, rows)


def _chart(measure: Measure, rows: Sequence[Row]) -> Chart:
    unit, scale = AXES.get(measure.unit, (measure.unit, 1.0))
    own = [row if measure.key in row.get(PART, {}) else _without(row) for row in rows]
    return chart(
        f"own-{measure.name.replace('_', '-')}",
        f"{measure.title} against configuration",
        axis("Configuration", categories=[row["label"] for row in rows]),
        axis(measure.title, unit, zero=True),
        [of_engine(own, engine, measure.title.lower(), PART, measure.key, scale=scale) for engine in ENGINES],
        [f"{measure.definition} Faint marks are replicates."],
    )


def _without(row: Row) -> Row:
    return {name: value for name, value in row.items() if name != PART}


def _all(rows: Sequence[Row]) -> list[tuple[Measure, bool]]:
    """Those that a row has a value of."""
    systems = dict.fromkeys(row["system"] for row in rows if PART in row)
    known = {key for row in rows for key, one in row.get(PART, {}).items() if one["n"]}
    return [one for system in systems for one in _figures(system) if one[0].key in known]


def _figures(system: str) -> list[tuple[Measure, bool]]:
    """Each with whether it is a main one."""
    known = measures_of(system)
    declared = telemetry_of({"system": system}).key_figures
    return [(known[one.measure], one.is_main) for one in declared if known[one.measure].system]
