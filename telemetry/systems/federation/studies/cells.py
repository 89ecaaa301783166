"""The runs of seed 001's studies by what the presets vary. A cell is one configuration: a run of each seed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from telemetry.charts.charts import axis
from telemetry.studies.study import Row, Rows, where

DEFINITIONS = Path(__file__).parent / "definitions"
WRITTEN = "2026-11-27, from the paper's words; a prototype's figures were known, no run of this system"
ONE, THREE = "one broker", "three brokers"
"""One broker without a cache, and a chain of three with one for 15 % of subscriptions: the paper's arms."""
ARMS = {
    ONE: {"topology": "central", "cache_cap": 0.0, "processors": 1},
    THREE: {"topology": "line", "brokers": 3, "cache_cap": 0.15, "mobile_factor": 1.0},
}
MEAN, DEVIATION = "ts_mean", "ts_sd"
US_PER_MS = 1_000
RATE_AXIS, TIME_AXIS = axis("Queries per second", "/s"), axis("T_S", "ms", zero=True)
SIMULATED = "All values are simulated; service times are assumptions, which the paper does not give."


def of_arm(rows: Iterable[Row], arm: str) -> list[Row]:
    return where(rows, **ARMS[arm])


def of_service(rows: Iterable[Row], service_ms: float, cv: float = 1.0) -> list[Row]:
    return where(rows, service_ms=service_ms, service_cv=cv)


def rates(rows: Iterable[Row]) -> list[float]:
    return sorted({row.workload["rate_per_s"] for row in rows})


def at_rate(rows: Rows, rate: float) -> Row:
    """The only run at this rate. Of several numbers of queries, that of the highest rate. Raises ``KeyError``."""
    if not rows:
        raise KeyError("rows")
    usual = max(rows, key=lambda row: float(row.workload["rate_per_s"])).workload["queries"]
    return only(where(rows, rate_per_s=rate, queries=usual))


def only(rows: Rows) -> Row:
    """Raises ``KeyError``."""
    if len(rows) != 1:
        raise KeyError(f"{len(rows)} runs")
    return rows[0]


def ms(row: Row, measure: str) -> float:
    """A time in ms. Raises ``KeyError``."""
    return row.measures[measure] / US_PER_MS


def unsatisfied(rows: Iterable[Row]) -> float:
    """Raises ``KeyError``."""
    return sum(row.measures["unsatisfied"] for row in rows)


def mean_ms(rows: Rows, arm: str, rate: float, measure: str = MEAN) -> float:
    """Of an arm at a rate. Raises ``KeyError``."""
    return ms(at_rate(of_arm(rows, arm), rate), measure)
