"""Figures 4.3 to 4.6: as the paper draws them, and as this machine measured them. Pure.

The paper's own reduction: the mean over the three update intervals, at 30 s between requests, of ten brokers; the one
central broker (V3) was measured at 30 s between updates only. A measured configuration is drawn where it lies: its x is
its own, and a factor in which it differs from the figure's is said: in the name of its series, or once for all of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from overlay.core.engines import SIMULATED
from telemetry.charts.charts import Chart, axis, chart, estimate, point, series
from telemetry.formatting import KB
from telemetry.lake.configurations import in_words
from telemetry.statistics.intervals import interval
from telemetry.systems.context_broker.published import Published, table_b1

TOPOLOGIES = ("central", "ring", "full-mesh", "waxman")
REQUEST_INTERVAL_S = 30


@dataclass(frozen=True, slots=True)
class Figure:
    """What a figure of the paper shows."""

    number: str
    metric: str
    """``response_us`` or ``memory_kb``."""
    over: str
    """The factor on its x axis."""
    fixed: str
    """The factor that it holds, at ``at``."""
    at: int

    @property
    def title(self) -> str:
        metric = "Response time" if self.metric == "response_us" else "Memory of a broker"
        return f"Figure {self.number}: {metric} against {self.over}, {self.at} {self.fixed}, 30 s between requests"


FIGURES = (
    Figure("4.3", "response_us", "consumers", "providers", 50),
    Figure("4.4", "response_us", "providers", "consumers", 1000),
    Figure("4.5", "memory_kb", "consumers", "providers", 50),
    Figure("4.6", "memory_kb", "providers", "consumers", 1000),
)


def published_points(figure: Figure, topology: str, rows: Iterable[Published]) -> list[dict[str, Any]]:
    """The mean over update intervals at each x; damaged rows are left out. ``n`` is how many rows a mean is of."""
    found: dict[int, list[float]] = {}
    for row in rows:
        value = getattr(row, figure.metric)
        if _is_drawn(figure, topology, row) and row.is_whole and value is not None:
            found.setdefault(getattr(row, figure.over), []).append(value)
    return [point(x, fmean(values), n=len(values)) for x, values in sorted(found.items())]


def _is_drawn(figure: Figure, topology: str, row: Published) -> bool:
    return (
        row.topology == topology
        and row.brokers == (1 if topology == "central" else 10)
        and row.request_interval_s == REQUEST_INTERVAL_S
        and getattr(row, figure.fixed) == figure.at
    )


def draw(figure: Figure, configurations: Sequence[Mapping[str, Any]] = ()) -> Chart:
    """One figure; ``configurations`` as ``telemetry.reports.comparison`` describes them, none for the paper's alone.

    ``remark`` is what a reader must know of the measured values before looking at them: in what all of them differ from
    the figure, or that there are none. It is empty where they are what the figure is about.
    """
    rows = table_b1()
    published = [
        series(f"{topology}, published", "published", topology, published_points(figure, topology, rows))
        for topology in TOPOLOGIES
    ]
    shared = _shared([_conditions(figure, row) for row in configurations])
    measured = _measured(figure, configurations, shared)
    unit = "µs" if figure.metric == "response_us" else "kB"
    label = "Mean response time" if figure.metric == "response_us" else "Memory of a broker"
    drawn = chart(
        f"figure-{figure.number}",
        figure.title,
        axis(figure.over.capitalize(), zero=True),
        axis(label, unit, log=figure.metric == "response_us", zero=figure.metric == "memory_kb"),
        [*published, *measured],
        _notes(figure, rows, bool(configurations)),
    )
    return {**drawn, "remark": _remark(figure, shared, bool(configurations), bool(measured))}


def draw_all(configurations: Sequence[Mapping[str, Any]] = ()) -> list[Chart]:
    return [draw(figure, configurations) for figure in FIGURES]


def _measured(
    figure: Figure, configurations: Sequence[Mapping[str, Any]], shared: Sequence[str]
) -> list[dict[str, Any]]:
    kinds = [("", "")] if figure.metric == "response_us" else [("rss_bytes", "RSS"), ("uss_bytes", "USS")]
    found = [one for kind in kinds for one in _measured_series(figure, configurations, shared, *kind)]
    return [one for one in found if one["points"]]


def _measured_series(
    figure: Figure, configurations: Sequence[Mapping[str, Any]], shared: Sequence[str], metric: str, word: str
) -> list[dict[str, Any]]:
    """One series per topology and set of conditions; replicates over all update intervals are taken together."""
    found: dict[tuple[str, str, str], dict[float, list[float]]] = {}
    links: dict[str, set[str]] = defaultdict(set)
    for row in configurations:
        links[row["topology"]["name"]].add(row["topology"]["links"])
    for row in configurations:
        x = row["workload"].get(figure.over)
        values = row["memory"][metric] if metric else row["response"]["from_intended"]["mean"]
        if x is None or not values["replicates"]:
            continue
        own = [condition for condition in _conditions(figure, row) if condition not in shared]
        if len(links[row["topology"]["name"]]) > 1:
            own.append(f"links: {row['topology']['links'] or 'not shaped'}")
        is_simulated = row.get("engine") == SIMULATED
        if is_simulated:
            own.append(SIMULATED)
        name = ", ".join(part for part in (row["topology"]["name"], word, *own) if part)
        role = SIMULATED if is_simulated else "shaped" if row["topology"]["shaped"] else "measured"
        points = found.setdefault((name, role, row["topology"]["kind"]), {})
        points.setdefault(x, []).extend(values["replicates"])
    scale = 1 / KB if metric else 1.0
    return [
        series(name, role, kind, [estimate(x, interval(v), scale) for x, v in sorted(points.items())], metric=metric)
        for (name, role, kind), points in found.items()
    ]


def _conditions(figure: Figure, row: Mapping[str, Any]) -> list[str]:
    """In what a configuration differs from the figure, in words; the update interval is reduced over."""
    workload, topology = row["workload"], row["topology"]
    said = []
    brokers = 1 if topology["kind"] == "central" else 10
    if topology["brokers"] != brokers:
        said.append(f"{topology['brokers']} brokers")
    for factor, value in ((figure.fixed, figure.at), ("request_interval_s", REQUEST_INTERVAL_S)):
        if workload.get(factor) != value:
            said.append(in_words(factor, workload.get(factor, 0)))
    return said


def _shared(conditions: Sequence[Sequence[str]]) -> list[str]:
    """Those that hold for all configurations."""
    return [one for one in (conditions[0] if conditions else ()) if all(one in other for other in conditions)]


def _remark(figure: Figure, shared: Sequence[str], is_asked: bool, is_measured: bool) -> str:
    own = f"{figure.at} {figure.fixed} and {REQUEST_INTERVAL_S} s between requests"
    if is_asked and not is_measured:
        return f"No run of this report was answered, so nothing measured stands here. The figure is about {own}."
    if shared:
        return f"No run of this report has {own}: what was measured has {' and '.join(shared)}."
    return ""


def _notes(figure: Figure, rows: Sequence[Published], is_measured: bool) -> list[str]:
    damaged = [str(row.config) for row in rows if not row.is_whole]
    notes = [
        "Published values: Table B.1, the mean over update intervals at 30 s between requests; each was measured once, "
        "so they carry no interval.",
        f"Rows {', '.join(damaged)} of the table are damaged or incomplete in the source and in no mean.",
    ]
    if is_measured:
        notes.append(
            "Measured values: the geometric mean of the replicates with its 95 % interval; what was not run is a gap."
        )
    if is_measured and figure.metric == "memory_kb":
        notes.append(
            "The published brokers were C++ programs of about 2 MB; ours share an interpreter, which RSS counts."
        )
    return notes
