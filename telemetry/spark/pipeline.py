"""The pipeline of a report: reads the lake, runs the nodes, and returns small results as Python values.

Counterparts: ``nodes`` counts, ``telemetry.statistics.quantiles`` computes percentiles from counts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, Row, SparkSession

from overlay.systems.contract import System
from telemetry.errors import TelemetryError
from telemetry.lake.configurations import ChosenRun, grouped
from telemetry.lake.runs import Lake
from telemetry.reports.measured import CURVE, STARTS, Measured
from telemetry.spark import nodes
from telemetry.spark.schema import table_schema
from telemetry.statistics.metrics import PERCENTILES, STATISTICS
from telemetry.statistics.quantiles import Counts
from telemetry.systems.registry import telemetry_of

SHARES = tuple(percent / 100 for percent in PERCENTILES)
"""The percentiles of runs and configurations, as shares."""

READ = ("samples", "ticks")
"""The tables of the lake that a report reads."""

Key = tuple[str, str]
"""A run and a measure."""


def measure(spark: SparkSession, lake: Lake, runs: Sequence[ChosenRun]) -> Measured:
    """The data for a comparison of ``runs``. Raises ``TelemetryError`` without any answer or delivery."""
    samples = _by_system(spark, lake, "samples", runs, lambda rows, system: nodes.marked(rows, system.asking_roles))
    ticks = _by_system(spark, lake, "ticks", runs, lambda rows, system: nodes.with_tables(rows, system.table_gauge))
    tallies = nodes.tallies(samples).persist()
    tallied = {row["run"]: row for row in tallies.collect()}
    memory = {row["run"]: row.asDict() for row in nodes.run_memory(nodes.broker_memory(ticks, tallies)).collect()}
    groups = {key: [run.run for run in group] for key, group in grouped(runs).items()}
    values = nodes.values(samples)
    cells = nodes.cells(values).toArrow()
    if not cells.num_rows and not any(_summary(run).get("deliveries") for run in runs):
        raise TelemetryError("None of the selected runs has an answered request, so there is nothing to compare.")
    exact = _exact(spark, values, cells, groups) if cells.num_rows else {}
    totals = _totals(cells)
    return Measured(
        response=_response({run: [run] for run in tallied}, exact, totals),
        pooled=_response(groups, exact, totals),
        curves=_curves(groups, exact),
        outcomes={run: row["outcome"].asDict() for run, row in tallied.items()},
        truths={run: _truths(row, exact.get((run, nodes.STALE))) for run, row in tallied.items()},
        memory=memory | _pushed_memory(runs),
    )


def _exact(
    spark: SparkSession, values: DataFrame, cells: pa.Table, groups: Mapping[str, Sequence[str]]
) -> dict[Key, Counts]:
    """The counts of each run and measure, by single values where a percentile is among them."""
    coarse = _counts(cells, "cell")
    wanted = _wanted(coarse, groups)
    fine = _counts(nodes.singles(values, spark.createDataFrame(_table(wanted))).toArrow(), "value")
    return {key: Counts.merged([coarse[key].without(wanted[key]), fine[key]]) for key in coarse}


def _pushed_memory(runs: Sequence[ChosenRun]) -> dict[str, dict[str, Any]]:
    """The memory of runs with deliveries, from their summaries: the window in ``tallies`` is that of samples."""
    return {run.run: _summary(run)["memory"]["mean"] for run in runs if _summary(run).get("deliveries")}


def _summary(run: ChosenRun) -> Mapping[str, Any]:
    return run.manifest.get("summary") or {}


def _counts(table: pa.Table, column: str) -> dict[Key, Counts]:
    """The counts of each run and measure; at least one row."""
    table = table.sort_by([("run", "ascending"), ("measure", "ascending")])
    columns = [table[name].combine_chunks().dictionary_encode() for name in ("run", "measure")]
    codes = [one.indices.to_numpy() for one in columns]
    first = np.flatnonzero(np.any([np.diff(code, prepend=-1) != 0 for code in codes], axis=0))
    keys = zip(*(one.take(pa.array(first)).to_pylist() for one in columns), strict=True)
    values, counts = (np.split(table[name].to_numpy(), first[1:]) for name in (column, "n"))
    return {key: Counts(*part) for key, *part in zip(keys, values, counts, strict=True)}


def _totals(cells: pa.Table) -> dict[Key, int]:
    """The sum of the values of each run and measure."""
    summed = cells.group_by(["run", "measure"]).aggregate([("total", "sum")]).to_pylist()
    return {(row["run"], row["measure"]): row["total_sum"] for row in summed}


def _wanted(coarse: Mapping[Key, Counts], groups: Mapping[str, Sequence[str]]) -> dict[Key, Any]:
    """The cells that contain a percentile of the run or of its configuration."""
    found: dict[Key, Any] = {}
    for group in groups.values():
        for name in nodes.MEASURES:
            parts = {(run, name): coarse[run, name] for run in group if (run, name) in coarse}
            if parts:
                pooled = Counts.merged(list(parts.values())).held([*SHARES, *CURVE])
                found |= {key: np.union1d(pooled, part.held(SHARES)) for key, part in parts.items()}
    return found


def _table(wanted: Mapping[Key, Any]) -> pa.Table:
    rows = [(run, name, cell) for (run, name), cells in wanted.items() for cell in cells.tolist()]
    return pa.table(dict(zip(("run", "measure", "cell"), zip(*rows, strict=True), strict=True)))


def _response(
    groups: Mapping[str, Sequence[str]], exact: Mapping[Key, Counts], totals: Mapping[Key, int]
) -> dict[str, Mapping[str, Any]]:
    """Answers, and mean and percentiles of both response times, over all runs of each group together."""
    found: dict[str, dict[str, Any]] = defaultdict(dict)
    for group, runs in groups.items():
        for name in STARTS.values():
            keys = [(run, name) for run in runs if (run, name) in exact]
            if keys:
                counts = Counts.merged([exact[key] for key in keys])
                answers = int(counts.counts.sum())
                statistics = [sum(totals[key] for key in keys) / answers, *counts.percentiles(SHARES)]
                named = {f"{name}_{word}": value for word, value in zip(STATISTICS, statistics, strict=True)}
                found[group] |= {"answers": answers, **named}
    return dict(found)


def _curves(groups: Mapping[str, Sequence[str]], exact: Mapping[Key, Counts]) -> dict[str, Mapping[str, Any]]:
    column = STARTS["from_intended"]
    parts = {key: [exact[run, column] for run in runs if (run, column) in exact] for key, runs in groups.items()}
    return {key: {"curve": Counts.merged(each).percentiles(CURVE)} for key, each in parts.items() if each}


def _truths(row: Row, stale: Counts | None) -> dict[str, Any]:
    median = stale.percentiles([0.5])[0] if stale else None
    return {**row["truth"].asDict(), "existed": row["existed"], nodes.STALE: median}


def _by_system(
    spark: SparkSession,
    lake: Lake,
    name: str,
    runs: Sequence[ChosenRun],
    declared: Callable[[DataFrame, System], DataFrame],
) -> DataFrame:
    """The rows of all runs; ``declared`` adds to those of one system what it declares about them."""
    by_system: dict[str, list[ChosenRun]] = defaultdict(list)
    for run in runs:
        by_system[run.system].append(run)
    read = ((_read(spark, lake, name, some), telemetry_of({"system": one}).system) for one, some in by_system.items())
    return reduce(DataFrame.unionByName, (declared(rows, system) for rows, system in read))


def _read(spark: SparkSession, lake: Lake, name: str, runs: Sequence[ChosenRun]) -> DataFrame:
    """Only the parts of the selected runs, so that a large lake is not listed for a small report."""
    parts = [str(lake.part(name, run.run)) for run in runs]
    return spark.read.schema(table_schema(name)).option("basePath", str(lake.table(name))).parquet(*parts)
