"""E4.9: nodes that get other addresses."""

from __future__ import annotations

from collections.abc import Mapping

from telemetry.charts.charts import axis
from telemetry.statistics.intervals import COUNT
from telemetry.studies.criteria import Intervals, Shown, all_of, at_most
from telemetry.studies.study import Claim, Plot, Quantities, Quantity, Row, Rows, Study, X
from telemetry.systems.contextnet.studies.cells import DEFINITIONS, SIMULATED, none_in_each

WRITTEN = "2026-11-29, from the contract; no run of this study was known"
PATH, RECONNECT = "followed", "reconnected"


def arm(row: Row) -> str:
    return PATH if row.settings["validation"] else RECONNECT


def _named(row: Row) -> str:
    return f"{arm(row)}, {row.workload['address_change_per_h']:g}/h"


def _lost(rows: Rows) -> Quantities:
    if {arm(row) for row in rows} != {PATH, RECONNECT}:
        raise KeyError("lost")
    return {_named(row): row.measures["lost"] for row in rows}


def _extra(rows: Rows) -> Quantities:
    """Extra RTT after a change / the median RTT. Raises ``KeyError`` where no address changed."""
    found = {
        _named(row): row.measures["path_extra"] / (row.measures["rtt_p50"] / 1e3)
        for row in rows
        if arm(row) == PATH and "path_extra" in row.measures
    }
    if not found:
        raise KeyError("path_extra")
    return found


def _is_short(figures: Intervals) -> tuple[Shown, Shown]:
    found = figures.values()
    return all_of(at_most(one, 3) for one in found), all_of(at_most(one, 10) for one in found)


def _by_rate(rows: Rows) -> Mapping[tuple[str, X], Quantity]:
    return {
        (arm(row), float(row.workload["address_change_per_h"])): row.measures["path_extra"]
        for row in rows
        if "path_extra" in row.measures
    }


ROAMING_STUDY = Study(
    "E4.9",
    "Roaming",
    "What does another address cost a node?",
    DEFINITIONS / "roaming.yaml",
    (
        Plot(
            "extra",
            "Extra RTT of the first message from another address",
            axis("Changes of a node per hour", log=True),
            axis("Extra RTT", "ms"),
            _by_rate,
            COUNT,
        ),
    ),
    (
        Claim(
            "lost",
            "No message is lost by a change of address.",
            "No message is lost, whether gateways follow or nodes connect again, in each run.",
            "The same.",
            _lost,
            none_in_each,
            WRITTEN,
            "messages",
            COUNT,
        ),
        Claim(
            "short",
            "A gateway that follows needs few round trips.",
            "The first message from another address takes at most 3 median RTTs longer, by the median of changes.",
            "At most 10.",
            _extra,
            _is_short,
            WRITTEN,
            scale=COUNT,
        ),
    ),
    names=("E4.9-roaming",),
    limits=(SIMULATED, "Another address is another port: other IP addresses are not simulated."),
)
