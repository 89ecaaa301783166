"""The runs of seed 003's studies, by what the paper varies: volume, codec, clients per chain, load of the uplink."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path

from telemetry.charts.charts import axis
from telemetry.studies.criteria import Intervals, Shown
from telemetry.studies.study import Claim, Row, Rows, mean, where

DEFINITIONS = Path(__file__).parent / "definitions"
WRITTEN = "2026-11-23, from the paper's printed numbers; byte counts of a prototype were known"
BYTES, LAG, VARIATION = "bytes_per_pair", "lag_mean", "outbound_cv"
BYTES_AXIS, LAG_AXIS = axis("Outbound bytes per pair", "bytes", log=True), axis("Mean lag", "µs", log=True)
VOLUMES = (1, 20, 50)
SHARES = (1.1, 1.5)
"""How many times the uplink is too small in the saturated arms: the paper does not say."""
LONGEST_QUEUE = 1 << 32
"""Bytes of an uplink's queue that refuses nothing."""
MORE, LESS = 1 + 1e-6, 1 - 1e-6
"""Above and below 1, by more than rounding."""
EVERYONE = "Everyone receives every message. Published kB/s are of another load and are not compared."
OVERLOAD = "How far the published server was overloaded is not said: the uplink is 1.1 and 1.5 times too small."


def volume(row: Row) -> int:
    """Messages per aggregate."""
    found = re.fullmatch(r"\{volume: (\d+)\}", str(row.settings["aggregability"]))
    if found is None:
        raise KeyError("volume")
    return int(found[1])


def length(row: Row) -> int:
    """Clients per chain; 0 without chains."""
    percent, clients = float(row.settings["chain_percent"]), int(row.workload["clients"])
    return round(percent / 100 * clients)


def equal_work(rows: Rows) -> list[Row]:
    """Below saturation, as the paper flushes."""
    return where(rows, uplink_share=0, flush="arrival")


def saturated(rows: Rows, share: float, queue_bytes: int = LONGEST_QUEUE) -> list[Row]:
    return where(rows, uplink_share=share, uplink_queue_bytes=queue_bytes)


def of_volume(rows: Iterable[Row], wanted: int, codec: str = "gzip") -> list[Row]:
    return [row for row in where(rows, codec=codec) if volume(row) == wanted]


def of_length(rows: Iterable[Row], wanted: int) -> list[Row]:
    return [row for row in rows if length(row) == wanted]


def ratio(one: Rows, other: Rows, measure: str) -> float:
    """Of the means of two arms. Raises ``KeyError``."""
    below = mean(other, measure)
    if not below:
        raise KeyError(measure)
    return mean(one, measure) / below


def saved(one: Rows, other: Rows) -> float:
    """The share of bytes per pair that ``one`` saves of ``other``. Raises ``KeyError``."""
    return 1 - ratio(one, other, BYTES)


def by_the_first_that_holds(claims: Iterable[Claim]) -> tuple[Claim, ...]:
    """Claims whose verdict is the first of criterion and shape that holds for the whole interval. One whose criterion
    is open, but whose shape is shown, is the shape only."""
    return tuple(replace(claim, judge=partial(_first, judge=claim.judge)) for claim in claims)


def _first(figures: Intervals, judge: Callable[[Intervals], tuple[Shown, Shown]]) -> tuple[Shown, Shown]:
    criterion, shape = judge(figures)
    return criterion is True, shape
