"""E4.4: both directions together, and each alone."""

from __future__ import annotations

from collections.abc import Mapping

from telemetry.charts.charts import axis
from telemetry.statistics.intervals import COUNT, SIGNED
from telemetry.studies.criteria import Intervals, Shown, at_least, at_most
from telemetry.studies.study import Claim, Plot, Quantities, Quantity, Rows, Study, X
from telemetry.systems.contextnet.studies.cells import DEFINITIONS, SIMULATED, only

WRITTEN = "2026-11-29, from the contract; no run of this study was known"
BOTH, ALONE = "both", ("inbound", "outbound")


def _te(rows: Rows) -> Quantities:
    alone = min(only(rows, direction=one)["te"] for one in ALONE)
    return {"both − the lower of the two": only(rows, direction=BOTH)["te"] - alone}


def _is_as_complete(figures: Intervals) -> tuple[Shown, Shown]:
    (found,) = figures.values()
    return at_least(found, -0.05), at_least(found, -1)


def _rtt(rows: Rows) -> Quantities:
    alone = max(only(rows, direction=one)["rtt_mean"] for one in ALONE)
    return {"both / the higher of the two": only(rows, direction=BOTH)["rtt_mean"] / alone}


def _is_as_quick(figures: Intervals) -> tuple[Shown, Shown]:
    (found,) = figures.values()
    return at_most(found, 1.5), at_most(found, 3)


def _means(rows: Rows) -> Mapping[tuple[str, X], Quantity]:
    return {("all nodes", row.workload["direction"]): row.measures["rtt_mean"] / 1e3 for row in rows}


BOTH_STUDY = Study(
    "E4.4",
    "Both directions",
    "Do messages in one direction delay or displace those in the other?",
    DEFINITIONS / "both.yaml",
    (Plot("rtt", "Mean RTT", axis("Direction"), axis("Mean RTT", "ms", zero=True), _means),),
    (
        Claim(
            "te",
            "Together as many messages are delivered as in each direction alone.",
            "Transmission efficiency of both is at most 0.05 points below the lower of the two.",
            "At most 1 point.",
            _te,
            _is_as_complete,
            WRITTEN,
            "percent",
            SIGNED,
        ),
        Claim(
            "rtt",
            "Together they take little longer.",
            "The mean RTT of both is at most 1.5 times the higher of the two.",
            "At most 3 times.",
            _rtt,
            _is_as_quick,
            WRITTEN,
            scale=COUNT,
        ),
    ),
    names=("E4.4-both",),
    limits=(SIMULATED,),
)
