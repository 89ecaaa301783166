"""The one place that starts Spark: two threads and 768 MB on this machine, unless the environment names a cluster."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from telemetry.errors import TelemetryError
from telemetry.spark.java import find_java

MASTER = "local[2]"
DRIVER_MEMORY = "768m"
JAVA_OPTIONS = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""A report is seconds of many short stages: Java's second compiler and parallel collector cost more than they return.
Measured on two busy cores, 12 runs: 99 s with these, 199 s without."""
SHUFFLE_PARTITIONS = 4
"""Aggregates of a few thousand rows: the default of 200 would be 200 tasks of nothing."""


@contextmanager
def spark_session(var: Path) -> Iterator[SparkSession]:
    """A session for one report, stopped when the block ends. Raises ``TelemetryError`` where none can be had.

    ``SPARK_REMOTE`` (``sc://host:port``) uses a Spark Connect server, ``SPARK_MASTER`` another master.
    """
    with TemporaryDirectory(prefix="waxwing-spark-") as scratch:
        session = _start(var, Path(scratch))
        try:
            yield session
        finally:
            session.stop()


def _start(var: Path, scratch: Path) -> SparkSession:
    builder = SparkSession.builder.appName("waxwing").config("spark.sql.session.timeZone", "UTC")
    remote = os.environ.get("SPARK_REMOTE")
    if remote:
        return _get(builder.remote(remote), f"the Spark Connect server {remote}")
    os.environ["JAVA_HOME"] = str(find_java(var))
    # Py4J says goodbye when the interpreter ends, to streams that may be closed by then.
    logging.getLogger("py4j").setLevel(logging.WARNING)
    master = os.environ.get("SPARK_MASTER", MASTER)
    settings = {
        "spark.driver.memory": DRIVER_MEMORY,
        "spark.driver.extraJavaOptions": JAVA_OPTIONS,
        "spark.sql.shuffle.partitions": SHUFFLE_PARTITIONS,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.sql.warehouse.dir": scratch / "warehouse",
        "spark.local.dir": scratch / "local",
    }
    if master.startswith("local"):
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        settings |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    for name, value in settings.items():
        builder = builder.config(name, str(value))
    return _get(builder.master(master), f"Spark ({master})")


def _get(builder: SparkSession.Builder, what: str) -> SparkSession:
    try:
        return builder.getOrCreate()
    except (PySparkException, ImportError, RuntimeError, OSError) as error:
        sentence = str(error).strip().partition("\n")[0]
        raise TelemetryError(f"{what} could not be started: {sentence}") from error
