"""E4.10: more messages than a gateway can handle."""

from __future__ import annotations

from collections.abc import Mapping

from telemetry.charts.charts import axis
from telemetry.statistics.intervals import COUNT
from telemetry.studies.criteria import Intervals, Shown, all_of, are_at_most, at_least
from telemetry.studies.study import Claim, Plot, Quantities, Quantity, Row, Rows, Study, X
from telemetry.systems.contextnet.studies.cells import DEFINITIONS

WRITTEN = "2026-11-29, from the contract; no run of this study was known"
BOUNDED, UNBOUNDED = "repeats bounded", "repeats not bounded"
KEPT = 0.8
"""Of the best goodput, at each higher rate."""


def arm(row: Row) -> str:
    return BOUNDED if row.settings["bound_repeats"] else UNBOUNDED


def offered(row: Row) -> float:
    """Messages per second of all nodes."""
    return float(row.workload["nodes"] * row.workload["rate_per_min"] / 60)


def _bounded(rows: Rows) -> list[Row]:
    """By rate. Raises ``KeyError`` where there are fewer than two."""
    found = sorted((row for row in rows if arm(row) == BOUNDED), key=offered)
    if len(found) < 2:
        raise KeyError(BOUNDED)
    return found


def _goodput(row: Row) -> float:
    return row.measures["goodput_per_s"]


def _limit(found: list[Row]) -> Row:
    """The rate with the best goodput."""
    return max(found, key=_goodput)


def _accounted(rows: Rows) -> Quantities:
    found = _bounded(rows)
    below = [row for row in found if offered(row) <= offered(_limit(found))]
    return {"least": min(row.measures["te"] + 100 * row.measures["refused"] / row.measures["sent"] for row in below)}


def _is_nearly_all(figures: Intervals) -> tuple[Shown, Shown]:
    return at_least(figures["least"], 99.9), at_least(figures["least"], 99)


def _repeats(rows: Rows) -> Quantities:
    """Of what the bound allows: a share of messages and answers, and one for each connection and end."""
    found = {}
    for row in _bounded(rows):
        messages = row.measures["sent"] + row.measures["delivered"]
        most = row.settings["repeat_share"] * messages + 2 * row.workload["nodes"]
        found[f"{offered(row):,.0f}/s"] = row.measures["repeats"] / most
    return found


def _kept(rows: Rows) -> Quantities:
    found = _bounded(rows)
    limit = _limit(found)
    beyond = [row for row in found if offered(row) >= offered(limit)]
    return {"least beyond the limit / at it": min(map(_goodput, beyond)) / _goodput(limit)}


def _is_kept(figures: Intervals) -> tuple[Shown, Shown]:
    found = figures.values()
    return all_of(at_least(one, KEPT) for one in found), all_of(at_least(one, KEPT / 2) for one in found)


def _by_rate(rows: Rows) -> Mapping[tuple[str, X], Quantity]:
    return {(arm(row), offered(row)): _goodput(row) for row in rows}


OVERLOAD_STUDY = Study(
    "E4.10",
    "Overload",
    "How many messages does a gateway answer that gets more than it can handle?",
    DEFINITIONS / "overload.yaml",
    (
        Plot(
            "goodput",
            "Messages answered by messages offered",
            axis("Offered", "1/s", log=True),
            axis("Answered while measuring", "1/s", zero=True),
            _by_rate,
            COUNT,
        ),
    ),
    (
        Claim(
            "accounted",
            "Up to the limit no message is lost or late.",
            "With bounded repeats, transmission efficiency and the share of refused messages are together at least "
            "99.9 %, at each rate up to the one with the best goodput.",
            "At least 99 %.",
            _accounted,
            _is_nearly_all,
            WRITTEN,
            "percent",
            COUNT,
        ),
        Claim(
            "repeats",
            "Repeats stay within their bound.",
            "With a bound of 0.2, repeats are at most 0.2 of the messages and answers, and one for each connection and "
            "end, at each rate.",
            "At most twice as many.",
            _repeats,
            are_at_most(1, 2),
            WRITTEN,
            scale=COUNT,
        ),
        Claim(
            "kept",
            "Goodput does not collapse.",
            "With bounded repeats, goodput at each rate above the one with the best goodput is at least 80 % of that.",
            "At least 40 %.",
            _kept,
            _is_kept,
            WRITTEN,
            scale=COUNT,
        ),
    ),
    names=("E4.10-overload",),
    limits=(
        "Simulated. Servers take the processor time of the calibration, each as if it had a processor of its own; "
        "nodes and applications take none. Links take 2 ms, and appends 0.3 ms.",
        "Three seeds at quick scale instead of the preset's one, for intervals.",
    ),
)
