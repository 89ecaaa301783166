"""Starts Spark: two threads and 768 MB on this machine, unless the environment names a cluster."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from telemetry.errors import TelemetryError
from telemetry.spark import EXECUTOR_MEMORY
from telemetry.spark.java import find_java

MASTER = "local[2]"
DRIVER_MEMORY = "768m"
JAVA_OPTIONS = "-XX:+UseSerialGC"
SHORT_OPTIONS = f"{JAVA_OPTIONS} -XX:TieredStopAtLevel=1"
"""For reports that are seconds of many short stages, where Java's second compiler costs more than it saves."""
LONG_BYTES = 100_000_000
"""Bytes of Parquet, about 5 million samples, above which that compiler pays off: a report of 10^6 samples took 14 s of
processor time without it and 26 s with it."""
SHUFFLE_PARTITIONS = 4
"""Aggregates have a few thousand rows; most of the default 200 tasks would be empty."""

CODE = Path(__file__).resolve().parents[2]
"""The code for Python workers, at the same path on every machine of a cluster."""
LISTED_AT_ONCE = 100_000
"""From this many files on they are listed by Spark tasks; for fewer files these are slower than listing them
directly."""


@contextmanager
def spark_session(var: Path, to_read_bytes: int = 0, master: str = MASTER) -> Iterator[SparkSession]:
    """A session for one report or sweep, stopped at the end of the block. Raises ``TelemetryError`` on failure.

    ``to_read_bytes`` is the size of its input. An existing JVM of this process is not changed.
    ``SPARK_MASTER`` (``spark://host:port``) overrides ``master``.
    """
    with TemporaryDirectory(prefix="waxwing-spark-") as scratch:
        session = _start(var, Path(scratch), to_read_bytes, master)
        try:
            yield session
        finally:
            session.stop()


def _start(var: Path, scratch: Path, to_read_bytes: int, master: str) -> SparkSession:
    builder = SparkSession.builder.appName("waxwing").config("spark.sql.session.timeZone", "UTC")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # otherwise the system's python3, without our libraries
    os.environ["JAVA_HOME"] = str(find_java(var))
    # Py4J logs when the interpreter ends, to streams that may be closed by then.
    logging.getLogger("py4j").setLevel(logging.WARNING)
    master = os.environ.get("SPARK_MASTER", master)
    settings = {
        "spark.driver.memory": DRIVER_MEMORY,
        "spark.executor.memory": EXECUTOR_MEMORY,
        "spark.driver.extraJavaOptions": SHORT_OPTIONS if to_read_bytes < LONG_BYTES else JAVA_OPTIONS,
        "spark.sql.shuffle.partitions": SHUFFLE_PARTITIONS,
        "spark.sql.sources.parallelPartitionDiscovery.threshold": LISTED_AT_ONCE,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.sql.warehouse.dir": scratch / "warehouse",
        "spark.local.dir": scratch / "local",
        "spark.executorEnv.PYTHONPATH": CODE,
    }
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    for name, value in settings.items():
        builder = builder.config(name, str(value))
    try:
        return builder.master(master).getOrCreate()
    except (PySparkException, ImportError, RuntimeError, OSError) as error:
        sentence = str(error).strip().partition("\n")[0]
        raise TelemetryError(f"Spark ({master}) could not be started: {sentence}") from error
