"""A batch by Spark: a task for each run, the dearest first, on whatever master the environment names.

Spark hands out tasks in the order of their partitions and each task tells of itself by files, so nothing waits for the
last one to know of the first. What carries runs out must see the directories of the batch and hold this code at the
same place; it needs neither Django nor the web.
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
"""As many at a time as there are cores; a run that ends its process is begun again, and the third time told failed."""


def on_spark(spark: SparkSession, batch: Batch) -> None:
    """Carry the batch out. Raises ``TelemetryError`` when Spark gives it up; what had ended by then has."""
    directory = str(batch.directory.absolute())

    def carry_out(place: int) -> str:
        here = Batch.read(Path(directory))
        return perform(here, here.runs[place]).state

    runs = len(batch.costs)
    # Not deterministic, so that no plan of Spark's evaluates it twice.
    state = udf(carry_out, "string", useArrow=False).asNondeterministic()
    try:
        spark.range(0, runs, 1, runs).select(state("id")).collect()
    except PySparkException as error:
        sentence = str(error).strip().partition("\n")[0]
        raise TelemetryError(f"Spark gave the batch up: {sentence}") from error
