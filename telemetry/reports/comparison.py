"""The report ``comparison``: what Spark computed per run and per configuration becomes tables and charts. Pure.

Counterparts: ``telemetry.spark.pipeline`` computes ``Measured``; ``telemetry.reports.html`` lays the result out;
``configuration_rows``, ``request_charts`` and ``notes`` have its parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from telemetry.charts.charts import Chart
from telemetry.lake.configurations import ChosenRun, differing, label, links_in_words
from telemetry.reports import deliveries, own_figures, parts, request_charts, study_part
from telemetry.reports.configuration_rows import rows_of
from telemetry.reports.measured import Measured
from telemetry.reports.notes import notes
from telemetry.systems.registry import telemetry_of

Row = Mapping[str, Any]


def compare(
    runs: Sequence[ChosenRun],
    measured: Measured,
    title: str,
    provenance: Mapping[str, Any],
    repeated: Sequence[ChosenRun] = (),
) -> dict[str, Any]:
    """The report as JSON: ``configurations`` (one row each), ``charts``, ``studies``, ``notes``, ``provenance``.

    ``repeated`` were chosen, too, and are left out, as ``configurations.without_repeats`` has it.
    """
    studied = study_part.results(runs)
    factors = {system: differing(own) for system, own in _by_system(runs).items()}
    rows = [row for system, own in _by_system(runs).items() for row in rows_of(own, factors[system], measured)]
    return {
        "kind": "comparison",
        "title": title,
        "differing": list(dict.fromkeys(name for names in factors.values() for name in names)),
        "configurations": rows,
        "engines": sorted({run.engine for run in runs}),
        "charts": [*study_part.charts(studied), *_charts(rows, measured)],
        "studies": study_part.documents(studied),
        "notes": notes(runs, rows, repeated),
        "provenance": {**provenance, "runs": [_provenance(run, factors[run.system]) for run in runs]},
    }


def _by_system(runs: Sequence[ChosenRun]) -> dict[str, list[ChosenRun]]:
    """In the order of the runs."""
    found: dict[str, list[ChosenRun]] = {}
    for run in runs:
        found.setdefault(run.system, []).append(run)
    return found


def _charts(rows: Sequence[Row], measured: Measured) -> Iterator[Chart]:
    """Of each system by itself, in its words. Of several, each chart has its ``system``, also in its id."""
    by_system = parts.by_system(rows)
    for system, own in by_system.items():
        for chart in _of_system(system, own, measured):
            yield chart if len(by_system) == 1 else parts.marked(chart, system)


def _of_system(system: str, rows: Sequence[Row], measured: Measured) -> Iterator[Chart]:
    yield from request_charts.drawn(rows, measured)
    yield from own_figures.charts(rows)
    yield from deliveries.charts(rows)
    yield from telemetry_of({"system": system}).figures(rows)


def _provenance(run: ChosenRun, factors: Sequence[str]) -> dict[str, Any]:
    kept = ("started", "code", "python", "libraries", "machine", "simulated")
    return {
        "run": run.run,
        "configuration": label(run, factors),
        "replicate": run.replicate,
        "seed": run.seed,
        "engine": run.engine,
        "verdict": run.verdict,
        "verdict_reasons": list(run.reasons),
        "changed": run.changed,
        "links": links_in_words(run.topology.get("links") or ()),
        **{name: run.manifest.get(name) for name in kept},
    }
