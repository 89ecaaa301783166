"""E4.12: restarts of the store, of the gateway and of the log."""

from __future__ import annotations

from telemetry.statistics.intervals import COUNT
from telemetry.studies.criteria import Intervals, Shown, at_most
from telemetry.studies.study import Claim, Quantities, Rows, Study
from telemetry.systems.contextnet.studies.cells import DEFINITIONS, SIMULATED, none_in_each, only

WRITTEN = "2026-11-29, from the contract; no run of this study was known"


def _durable(rows: Rows) -> Quantities:
    return {"lost": only(rows, durability="always")["lost"]}


def _each_second(rows: Rows) -> Quantities:
    """Lost / messages of one second."""
    found = [row for row in rows if row.settings["durability"] == "everysec"]
    if len(found) != 1:
        raise KeyError("everysec")
    of = found[0].workload
    return {"lost / messages of 1 s": found[0].measures["lost"] / (of["nodes"] * of["rate_per_min"] / 60)}


def _is_a_second(figures: Intervals) -> tuple[Shown, Shown]:
    (found,) = figures.values()
    return at_most(found, 1), at_most(found, 2)


RESTART_STUDY = Study(
    "E4.12",
    "Restarts",
    "What is lost when the store, the gateway and the log restart?",
    DEFINITIONS / "restarts.yaml",
    (),
    (
        Claim(
            "always",
            "Nothing is lost where each record is durable before it is acknowledged.",
            "No message is lost with durability always, in each run.",
            "The same.",
            _durable,
            none_in_each,
            WRITTEN,
            "messages",
            COUNT,
        ),
        Claim(
            "everysec",
            "At most a second's messages are lost where records become durable each second.",
            "At most as many are lost with durability everysec as are due in 1 s.",
            "At most twice as many.",
            _each_second,
            _is_a_second,
            WRITTEN,
            scale=COUNT,
        ),
    ),
    names=("E4.12-mtd-crash",),
    limits=(SIMULATED,),
)
