"""The charts and key figures of a run's page, as its system declares them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import Any

from brokerweb.brokers.names import ServerNames
from brokerweb.experiments.models import Run
from brokerweb.experiments.states import UNFINISHED
from overlay.systems.registry import SYSTEMS
from telemetry.charts.live import KeyFigure, format_of
from telemetry.formatting import count
from telemetry.measures import Measure
from telemetry.systems.registry import measures_of, telemetry_of


@dataclass(frozen=True, slots=True)
class Figure:
    title: str
    live: str
    """Its path in a snapshot; empty if it is known at the end only."""
    format: str
    """Of ``format.js``."""
    text: str
    note: str
    """Next to it: *98 of 100*."""


def key_figures(run: Run, servers: ServerNames) -> dict[str, list[Figure]]:
    """``{main, more}`` with the values of its summary, and of a run that has not ended ``{later}``: those that are
    known at the end."""
    known = measures_of(run.system)
    declared = telemetry_of({"system": run.system}).key_figures
    shown = [
        (one.is_main, _figure(one, known[one.measure], known, run, servers))
        for one in declared
        if not one.is_rare or known[one.measure].of(run.summary) is not None
    ]
    later = [figure for _, figure in shown if not figure.live] if run.state in UNFINISHED else []
    shown = [(is_main, figure) for is_main, figure in shown if figure not in later]
    return {
        "main": [figure for is_main, figure in shown if is_main],
        "more": [figure for is_main, figure in shown if not is_main],
        "later": later,
    }


def _figure(one: KeyFigure, measure: Measure, known: Any, run: Run, servers: ServerNames) -> Figure:
    counts = [known[name].of(run.summary) for name in one.counts or ()]
    note = " of ".join(map(count, counts)) if counts and None not in counts and counts[-1] else ""
    if one.of and (total := known[one.of].of(run.summary)) is not None:
        note = f"of {known[one.of].text(total)}"
    form = format_of(measure.unit, is_count=measure.is_count)
    title = servers.fill(one.title or measure.title)
    return Figure(title, one.live, form, measure.text(measure.of(run.summary)), note)


def charts(run: Run, servers: ServerNames) -> list[dict[str, Any]]:
    """For the template, and ``views`` for the script."""
    is_modelled = run.configuration.get("simulation", {}).get("service_times") != "none" and not lacks_resources(run)
    has_requests = _has_requests(run)
    shown = [
        {
            "name": chart.name,
            "title": servers.fill(chart.title),
            "about": servers.fill(chart.about),
            "views": chart.views,
            "views_label": chart.views_label,
            "is_log": chart.is_log,
            "size": chart.size,
            "script": _filled(chart.for_script(), servers),
        }
        for chart in telemetry_of({"system": run.system}).series
        if (is_modelled or not chart.is_modelled) and (has_requests or not chart.is_of_requests)
    ]
    _widen(shown)
    return shown


def _has_requests(run: Run) -> bool:
    """Whether its workload has clients that request anything; unknown: yes."""
    due = telemetry_of(run.configuration).due(run.configuration)
    return due is None or any(due.get(role, 1) for role in SYSTEMS[run.system].asking_roles)


def lacks_resources(run: Run) -> bool:
    """Whether it has ended and neither memory nor processor time of its processes is known, as of most simulated
    runs."""
    if not run.summary:
        return False
    memory, processor = (run.summary.get(name) or {} for name in ("memory", "processor"))
    known = {name: value for name, value in (memory.get("mean") or {}).items() if name != "table_bytes"}
    return not any((*known.values(), processor.get("cores_used")))


def _widen(charts: list[dict[str, Any]]) -> None:
    """A chart of half the page's width without another next to it takes all of it; so does the first, below which are
    the event markers."""
    if charts:
        charts[0]["size"] = charts[0]["size"] or "low"
    for is_half, group in groupby(charts, key=lambda chart: not chart["size"]):
        halves = list(group)
        if is_half and len(halves) % 2:
            halves[-1]["size"] = "low"


def _filled(views: dict[str, Any], servers: ServerNames) -> dict[str, Any]:
    return {
        name: {**view, "lines": [{**line, "label": servers.fill(line["label"])} for line in view["lines"]]}
        for name, view in views.items()
    }
