"""The steps of a report: functions from DataFrames to a DataFrame, whose last ``select`` is its contract.

Counterparts: ``telemetry.summary.summary`` computes the same for one run with numpy, and a test compares both;
``pipeline`` connects them. Percentiles are exact, without storing or sorting samples: all values are counted by ranges
(``cells``), and individually only in ranges that contain a percentile (``singles``). Memory depends on the number
of runs and the spread of their values, not on the number of samples.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from overlay.journal.facts import OUTCOMES
from overlay.systems.registry import SYSTEMS
from telemetry.reports.measured import STARTS
from telemetry.summary.processes import MEMORY
from telemetry.summary.truths import TRUTHS

STALE = "stale_ms"
MEASURES = (*STARTS.values(), STALE)
"""The numbers of a request with percentiles."""
CELL = "value - value % shiftleft(1L, greatest(0, int(log2(value)) - 6))"
"""The minimum of the range of a value: one of 64 equal ranges between two powers of two."""

MEASURED = "phase = 'measuring'"
SERVERS = f"^({'|'.join(sorted({name for system in SYSTEMS.values() for name in system.role_names}))})-[0-9]+$"
"""Server processes of any system."""
REQUESTED = f"{MEASURED} AND is_request"


def marked(samples: DataFrame, asking: Sequence[str]) -> DataFrame:
    """``samples`` of one system with ``is_request``, true for those of its roles ``asking``."""
    return samples.withColumn("is_request", F.col("role").isin(*asking))


def with_tables(ticks: DataFrame, gauge: str) -> DataFrame:
    """``ticks`` of one system with ``table_bytes``, the value of its ``table_gauge``; null without one."""
    return ticks.withColumn("table_bytes", F.col("counters")[gauge])


def values(samples: DataFrame) -> DataFrame:
    """One row for each of ``MEASURES`` and each request due in measuring: response times, µs, and the age of stale
    answers, ms."""
    took = {"response_us": "intended_us", "response_from_sent_us": "sent_us"}
    is_answered, is_stale = F.col("outcome") == "answered", F.col("truth") == "stale"
    return (
        samples.where(REQUESTED)
        .select(
            "run",
            *(F.when(is_answered, F.col("ended_us") - F.col(took[name])).alias(name) for name in STARTS.values()),
            F.when(is_stale, F.col(STALE)).alias(STALE),
        )
        .unpivot("run", list(MEASURES), "measure", "value")
        .where(F.col("value").isNotNull())
        .select("run", "measure", "value", F.expr(CELL).alias("cell"))
    )


def cells(values: DataFrame) -> DataFrame:
    """The count and the sum of values in each cell, by run and measure."""
    return (
        values.groupBy("run", "measure", "cell")
        .agg(F.count("*").alias("n"), F.sum("value").alias("total"))
        .select("run", "measure", "cell", "n", "total")
    )


def singles(values: DataFrame, wanted: DataFrame) -> DataFrame:
    """The count of each value in the wanted cells."""
    return (
        values.join(F.broadcast(wanted), ["run", "measure", "cell"], "left_semi")
        .groupBy("run", "measure", "value")
        .agg(F.count("*").alias("n"))
        .select("run", "measure", "value", "n")
    )


def tallies(samples: DataFrame) -> DataFrame:
    """Counts of requests by outcome and verdict, by run, and its measuring window, microseconds.

    ``outcome`` and ``truth`` are structures of counts. All are zero for runs collected before verdicts existed.
    """
    return (
        samples.groupBy("run")
        .agg(
            _tally("outcome", OUTCOMES),
            _tally("truth", TRUTHS),
            F.count_if(F.expr(REQUESTED) & F.col("existed")).alias("existed"),
            F.min("sent_us").alias("clients_began_us"),
            F.min(F.when(F.expr(MEASURED), F.col("intended_us"))).alias("begin_us"),
            F.max(F.when(F.expr(MEASURED), F.col("ended_us"))).alias("end_us"),
        )
        .select("run", "outcome", "truth", "existed", "clients_began_us", "begin_us", "end_us")
    )


def _tally(column: str, words: Sequence[str]) -> Column:
    counted = (F.count_if(F.expr(REQUESTED) & (F.col(column) == word)).alias(word) for word in words)
    return F.struct(*counted).alias(column)


def broker_memory(ticks: DataFrame, window: DataFrame) -> DataFrame:
    """Mean memory of each server during measuring, bytes; over idle is relative to its last tick before the clients.

    ``ticks`` are from ``with_tables``.
    """
    known = {name: F.when(F.col(name) > 0, F.col(name)) for name in MEMORY}  # 0 means unknown
    private = F.coalesce(known["uss_bytes"], known["rss_bytes"])
    inside = F.col("at_us").between(F.col("begin_us"), F.col("end_us"))
    early = F.col("at_us") < F.col("clients_began_us")
    idle = F.max_by(F.when(early, F.col("private")), F.when(early, F.col("at_us")))
    return (
        ticks.where(F.col("process").rlike(SERVERS))
        .join(F.broadcast(window), "run")
        .withColumn("private", private)
        .groupBy("run", "process")
        .agg(
            *(F.mean(F.when(inside, known[name])).alias(name) for name in MEMORY),
            (F.mean(F.when(inside, F.col("private"))) - idle).alias("over_idle_bytes"),
            F.mean(F.when(inside, F.col("table_bytes"))).alias("table_bytes"),
        )
        .select("run", "process", *MEMORY, "over_idle_bytes", "table_bytes")
    )


def run_memory(brokers: DataFrame) -> DataFrame:
    """The mean over a run's brokers of each kind of memory."""
    names = (*MEMORY, "over_idle_bytes", "table_bytes")
    return brokers.groupBy("run").agg(*(F.mean(name).alias(name) for name in names)).select("run", *names)
