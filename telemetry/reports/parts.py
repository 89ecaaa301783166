"""The parts of a report: of runs of several systems, each system has one, with its charts, tables and words. Pure.

Results of versions before this have one part for all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from overlay.systems.registry import SYSTEMS, servers_title
from overlay.systems.roles import Title
from telemetry.charts.charts import Chart

FIGURE = "figure-"
"""How the ids of charts begin that a paper has."""
MEMORY = "memory"

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Part:
    system: str
    title: str
    """Its heading; empty if the report has one part."""
    rows: Sequence[Row]
    charts: Sequence[tuple[Chart, str]]
    """Each with its width, a class of the page's grid."""
    figures: Sequence[Chart]
    """Those that its paper has."""
    servers: Title
    suffix: str
    """Of ids in its part of the page."""


def by_system(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """In the order of the rows."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.get("system", ""), []).append(row)
    return found


def marked(chart: Chart, system: str) -> Chart:
    """A chart of one of several systems."""
    return {**chart, "id": f"{chart['id']}-{system}", "system": system}


def parts(rows: Sequence[Row], charts: Sequence[Chart]) -> list[Part]:
    """Of the rows and charts of a result. Charts of studies are in none if there are several; see ``shared``."""
    if not any("system" in chart for chart in charts):
        return [_part("", rows, charts)]
    return [
        _part(system, own, [chart for chart in charts if chart.get("system") == system])
        for system, own in by_system(rows).items()
    ]


def laid_out(charts: Sequence[Chart]) -> list[tuple[Chart, str]]:
    """Two in a row. Wide are that of memory, and one that would be alone."""
    found: list[tuple[Chart, str]] = []
    for is_memory, group in groupby(charts, key=lambda chart: chart["id"].startswith(MEMORY)):
        some = list(group)
        widths = ["span-12" if is_memory else "span-6"] * len(some)
        if len(some) % 2:
            widths[-1] = "span-12"
        found += zip(some, widths, strict=True)
    return found


def shared(charts: Sequence[Chart]) -> list[Chart]:
    """Charts that are in no part."""
    return [chart for chart in charts if "system" not in chart] if any("system" in chart for chart in charts) else []


def _part(system: str, rows: Sequence[Row], charts: Sequence[Chart]) -> Part:
    return Part(
        system,
        SYSTEMS[system].title if system in SYSTEMS else system,
        rows,
        laid_out([chart for chart in charts if not chart["id"].startswith(FIGURE)]),
        [chart for chart in charts if chart["id"].startswith(FIGURE)],
        servers_title(row.get("system", "") for row in rows),
        f"-{system}" if system else "",
    )
