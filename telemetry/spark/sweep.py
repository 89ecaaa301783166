"""Executes a batch on Spark: one task per run, the longest first, on the master in the environment.

Spark schedules tasks in the order of their partitions, and each task reports by files, so results are visible before
the last task ends. Workers need access to the directories of the batch and this code at the
same path, but neither Django nor the web.
"""

from __future__ import annotations

from pathlib import Path

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.functions import udf

from telemetry.errors import TelemetryError
from telemetry.sweep.batch import Batch
from telemetry.sweep.work import perform

MASTER = "local[*,3]"
"""One run per core. A run that kills its process is retried, and fails the third time."""


def on_spark(spark: SparkSession, batch: Batch) -> None:
    """Execute the batch. Raises ``TelemetryError`` if Spark gives up; finished runs are kept."""
    directory = str(batch.directory.absolute())

    def carry_out(place: int) -> str:
        here = Batch.read(Path(directory))
        return perform(here, here.runs[place]).state

    runs = len(batch.costs)
    # Declared non-deterministic, so that Spark does not evaluate it twice.
    state = udf(carry_out, "string", useArrow=False).asNondeterministic()
    try:
        spark.range(0, runs, 1, runs).select(state("id")).collect()
    except PySparkException as error:
        sentence = str(error).strip().partition("\n")[0]
        raise TelemetryError(f"Spark gave up the batch: {sentence}") from error
