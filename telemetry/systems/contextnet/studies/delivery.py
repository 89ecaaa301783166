"""E4.6: what a gateway's buffer for a broken connection guarantees."""

from __future__ import annotations

from collections.abc import Mapping

from telemetry.charts.charts import axis
from telemetry.statistics.intervals import COUNT, SIGNED
from telemetry.studies.criteria import Intervals, Shown, all_of, between
from telemetry.studies.study import Claim, Plot, Quantities, Quantity, Row, Rows, Study, X
from telemetry.systems.contextnet.studies.cells import DEFINITIONS, SIMULATED, none_in_each

WRITTEN = "2026-11-29, from the contract; a prototype's figures were known, no run of this study"
NONE, TWO, TWO_GRACEFUL, EXACT, RESUME = "none", "two", "two, graceful", "exact", "exact, resumed"
SURE = (EXACT, RESUME)
KEPT = 2
"""Messages of a broken connection that the buffer still has."""
PAPER_RATE = 4


def arm(row: Row) -> str:
    if row.settings["delivery"] == "exact":
        return RESUME if row.settings["resume"] else EXACT
    if row.settings["delivery"] == "none":
        return NONE
    return TWO_GRACEFUL if row.workload["disconnect"] == "graceful" else TWO


def _by_arm(rows: Rows, *names: str) -> list[tuple[str, Row]]:
    found = [(f"{arm(row)}, {row.workload['rate_per_min']:g}/min", row) for row in rows if arm(row) in names]
    if set(names) - {arm(row) for _, row in found}:
        raise KeyError(names)
    return found


def _lost(rows: Rows) -> Quantities:
    return {name: row.measures["lost"] for name, row in _by_arm(rows, *SURE)}


def _graceful(rows: Rows) -> Quantities:
    found = _by_arm(rows, TWO_GRACEFUL)
    return {name: row.measures["lost"] for name, row in found if row.workload["rate_per_min"] == PAPER_RATE}


def _repeated(rows: Rows) -> Quantities:
    return {name: row.measures["duplicates"] for name, row in _by_arm(rows, *SURE, TWO_GRACEFUL)}


def _beyond(rows: Rows) -> Quantities:
    """Lost per broken connection, less what comes while the break is not noticed and the buffer cannot keep: as a
    share of that, or as it is where that is nothing."""
    found = {}
    for name, row in _by_arm(rows, TWO):
        of = row.measures
        expected = max(0.0, row.workload["rate_per_min"] / 60 * of["detect_mean"] - KEPT)
        lost = of["lost_per_break"]
        found[name if expected else f"{name}, number"] = (lost - expected) / expected if expected else lost
    return found


def _is_as_computed(figures: Intervals) -> tuple[Shown, Shown]:
    def each(share: float, number: float) -> Shown:
        bounds = {name: number if name.endswith("number") else share for name in figures}
        return all_of(between(one, -bounds[name], bounds[name]) for name, one in figures.items())

    return each(0.2, 0.1), each(0.5, 0.5)


def _te(rows: Rows) -> Mapping[tuple[str, X], Quantity]:
    return {(arm(row), float(row.workload["rate_per_min"])): row.measures["te_disconnecting"] for row in rows}


DELIVERY_STUDY = Study(
    "E4.6",
    "Delivery",
    "Does a buffer of two messages deliver everything at least once?",
    DEFINITIONS / "delivery.yaml",
    (
        Plot(
            "te",
            "Transmission efficiency of disconnecting nodes",
            axis("Messages of a node per minute", log=True),
            axis("Delivered / due", "%"),
            _te,
            COUNT,
        ),
    ),
    (
        Claim(
            "exact",
            "Nothing is lost if all is stored that a broken connection did not deliver.",
            "No message is lost, in each run.",
            "The same.",
            _lost,
            none_in_each,
            WRITTEN,
            "messages",
            COUNT,
        ),
        Claim(
            "graceful",
            "Two messages are enough for nodes that say that they leave, at the paper's rate.",
            "No message is lost at 4 a minute, in each run.",
            "The same.",
            _graceful,
            none_in_each,
            WRITTEN,
            "messages",
            COUNT,
        ),
        Claim(
            "two",
            "For others it loses what comes, beyond two, until the break is noticed.",
            "Lost messages per broken connection are within 20 % of rate × time to detection − 2, or within 0.1 where "
            "that is nothing.",
            "Within 50 %, or 0.5.",
            _beyond,
            _is_as_computed,
            WRITTEN,
            "share or messages",
            SIGNED,
        ),
        Claim(
            "once",
            "Nodes get nothing twice.",
            "No duplicates, if all is stored or nodes say that they leave, in each run.",
            "The same.",
            _repeated,
            none_in_each,
            WRITTEN,
            "messages",
            COUNT,
        ),
    ),
    names=("E4.6-delivery",),
    limits=(SIMULATED,),
)
