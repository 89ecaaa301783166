"""``python -m telemetry sweep SPEC``: all configurations of a definition, simulated, without the web."""

from __future__ import annotations

from pathlib import Path

from telemetry.sweep.batch import Batch
from telemetry.sweep.processes import in_processes


def carry_out(batch: Batch, var: Path, *, with_spark: bool) -> None:
    """Every order of ``batch``, by Spark or by plain processes. Raises ``TelemetryError`` where Spark cannot start."""
    if not with_spark:
        in_processes(batch)
        return
    # Spark takes a second to import, which plain processes need not wait for.
    from telemetry.spark.session import spark_session
    from telemetry.spark.sweep import MASTER, on_spark

    with spark_session(var, master=MASTER) as spark:
        on_spark(spark, batch)
