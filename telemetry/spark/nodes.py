"""The steps of a report: each a function from DataFrames to a DataFrame, whose last ``select`` is its contract.

Counterparts: ``telemetry.summary`` says the same of one run with numpy, and a test holds the two together;
``pipeline`` wires. Percentiles are exact (``percentile``, never ``percentile_approx``), with linear interpolation.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from overlay.facts import OUTCOMES
from telemetry.comparison import CURVE, STARTS
from telemetry.metrics import PERCENTILES
from telemetry.oracle import TRUTHS
from telemetry.processes import BROKER, MEMORY


def measured_requests(samples: DataFrame, chosen: DataFrame) -> DataFrame:
    """The consumers' requests that were due in measuring, of the chosen runs, with both response times in µs."""
    wanted = (F.col("role") == "consumer") & (F.col("phase") == "measuring")
    return (
        samples.join(F.broadcast(chosen), "run")
        .where(wanted)
        .select(
            "configuration",
            "run",
            "outcome",
            "truth",
            "stale_ms",
            "existed",
            (F.col("ended_us") - F.col("intended_us")).alias("response_us"),
            (F.col("ended_us") - F.col("sent_us")).alias("response_from_sent_us"),
        )
    )


def response_times(requests: DataFrame, by: str) -> DataFrame:
    """Mean and percentiles of the answered requests, by ``run`` or by ``configuration``."""
    columns = list(STARTS.values())
    aggregates = [F.count("*").alias("answers")]
    for column in columns:
        aggregates.append(F.mean(column).alias(f"{column}_mean"))
        aggregates.append(_percentiles(column, [percent / 100 for percent in PERCENTILES]).alias(column))
    parts = [
        F.col(column)[i].alias(f"{column}_p{percent}") for column in columns for i, percent in enumerate(PERCENTILES)
    ]
    return (
        requests.where(F.col("outcome") == "answered")
        .groupBy(by)
        .agg(*aggregates)
        .select(by, "answers", *(f"{column}_mean" for column in columns), *parts)
    )


def percentile_curves(requests: DataFrame) -> DataFrame:
    """The response time at each share of ``CURVE``, all answers of a configuration together."""
    answered = requests.where(F.col("outcome") == "answered")
    curve = _percentiles("response_us", CURVE).alias("curve")
    return answered.groupBy("configuration").agg(curve).select("configuration", "curve")


def _percentiles(column: str, shares: Sequence[float]) -> Column:
    return F.percentile(column, F.array(*(F.lit(share) for share in shares)))


def outcomes(requests: DataFrame) -> DataFrame:
    """How many requests of each run ended how."""
    counts = [F.count_if(F.col("outcome") == outcome).alias(outcome) for outcome in OUTCOMES]
    return requests.groupBy("run").agg(*counts).select("run", *OUTCOMES)


def truths(requests: DataFrame) -> DataFrame:
    """How many requests of each run came to what, how many asked for what existed, and how old the stale answers were.

    All zero for a run from before its requests were judged.
    """
    counts = [F.count_if(F.col("truth") == word).alias(word) for word in TRUTHS]
    stale = F.median(F.when(F.col("truth") == "stale", F.col("stale_ms"))).alias("stale_ms")
    return (
        requests.groupBy("run")
        .agg(*counts, F.count_if("existed").alias("existed"), stale)
        .select("run", *TRUTHS, "existed", "stale_ms")
    )


def windows(samples: DataFrame, chosen: DataFrame) -> DataFrame:
    """When each run's clients began, and from when to when it measured, microseconds."""
    measured = F.col("phase") == "measuring"
    return (
        samples.join(F.broadcast(chosen), "run")
        .groupBy("run")
        .agg(
            F.min("sent_us").alias("clients_began_us"),
            F.min(F.when(measured, F.col("intended_us"))).alias("begin_us"),
            F.max(F.when(measured, F.col("ended_us"))).alias("end_us"),
        )
        .select("run", "clients_began_us", "begin_us", "end_us")
    )


def broker_memory(ticks: DataFrame, window: DataFrame) -> DataFrame:
    """Mean memory of each broker while measuring, bytes; over idle is against its last tick before the clients."""
    private = F.when(F.col("uss_bytes") > 0, F.col("uss_bytes")).otherwise(F.col("rss_bytes"))
    inside = F.col("at_us").between(F.col("begin_us"), F.col("end_us"))
    early = F.col("at_us") < F.col("clients_began_us")
    idle = F.max_by(F.when(early, F.col("private")), F.when(early, F.col("at_us")))
    return (
        ticks.where(F.col("process").startswith(BROKER))
        .join(F.broadcast(window), "run")
        .withColumn("private", private)
        .groupBy("run", "process")
        .agg(
            *(F.mean(F.when(inside, F.col(name))).alias(name) for name in MEMORY),
            (F.mean(F.when(inside, F.col("private"))) - idle).alias("over_idle_bytes"),
            F.mean(F.when(inside, F.col("counters")["bytes"])).alias("table_bytes"),
        )
        .select("run", "process", *MEMORY, "over_idle_bytes", "table_bytes")
    )


def run_memory(brokers: DataFrame) -> DataFrame:
    """The mean over a run's brokers of each kind of memory."""
    names = (*MEMORY, "over_idle_bytes", "table_bytes")
    return brokers.groupBy("run").agg(*(F.mean(name).alias(name) for name in names)).select("run", *names)
