"""The wiring of a report: reads the lake, runs the nodes, and hands small results back as Python values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.storagelevel import StorageLevel

from telemetry.comparison import Measured
from telemetry.configurations import ChosenRun
from telemetry.errors import TelemetryError
from telemetry.runs import Lake
from telemetry.spark import nodes
from telemetry.spark.schema import CHOSEN, table_schema


def measure(spark: SparkSession, lake: Lake, runs: Sequence[ChosenRun]) -> Measured:
    """Everything that a comparison of ``runs`` needs. Raises ``TelemetryError`` where they hold no answered request."""
    chosen = spark.createDataFrame([(run.run, run.key()) for run in runs], CHOSEN)
    samples, ticks = (_read(spark, lake, name, runs) for name in ("samples", "ticks"))
    requests = nodes.measured_requests(samples, chosen).persist(StorageLevel.MEMORY_AND_DISK)
    memory = nodes.run_memory(nodes.broker_memory(ticks, nodes.windows(samples, chosen)))
    found = Measured(
        response=_rows(nodes.response_times(requests, "run"), "run"),
        pooled=_rows(nodes.response_times(requests, "configuration"), "configuration"),
        curves=_rows(nodes.percentile_curves(requests), "configuration"),
        outcomes=_rows(nodes.outcomes(requests), "run"),
        truths=_rows(nodes.truths(requests), "run"),
        memory=_rows(memory, "run"),
    )
    requests.unpersist()
    if not found.response:
        raise TelemetryError("None of the chosen runs holds an answered request, so there is nothing to compare.")
    return found


def _read(spark: SparkSession, lake: Lake, name: str, runs: Sequence[ChosenRun]) -> DataFrame:
    """The parts of the chosen runs alone: a lake of thousands of runs is not listed for a report of nine."""
    parts = [str(lake.part(name, run.run)) for run in runs]
    return spark.read.schema(table_schema(name)).option("basePath", str(lake.table(name))).parquet(*parts)


def _rows(frame: DataFrame, key: str) -> dict[str, Mapping[str, Any]]:
    rows = [row.asDict() for row in frame.collect()]
    return {row.pop(key): row for row in rows}
