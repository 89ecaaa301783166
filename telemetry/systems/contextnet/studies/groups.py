"""E4.11: messages to groups that several definers make."""

from __future__ import annotations

from telemetry.statistics.intervals import COUNT
from telemetry.studies.criteria import Intervals, Shown, all_of, at_most
from telemetry.studies.study import Claim, Quantities, Rows, Study
from telemetry.systems.contextnet.studies.cells import DEFINITIONS, SIMULATED

WRITTEN = "2026-11-29, from the contract; no run of this study was known"


def _wrong(rows: Rows) -> Quantities:
    found = {f"run {number}": row.measures["group_wrong"] for number, row in enumerate(rows, 1)}
    if not found:
        raise KeyError("group_wrong")
    return found


def _are_none(figures: Intervals) -> tuple[Shown, Shown]:
    found = all_of(at_most(one, 0) for one in figures.values())
    return found, found


GROUP_STUDY = Study(
    "E4.11",
    "Groups",
    "Do messages to groups reach their members, and no other node, while contexts change?",
    DEFINITIONS / "groups.yaml",
    (),
    (
        Claim(
            "right",
            "Messages to a group reach its members alone.",
            "None is missing or goes beyond them, of nodes whose context had not changed for 2 s, in each run.",
            "The same.",
            _wrong,
            _are_none,
            WRITTEN,
            "deliveries",
            COUNT,
        ),
    ),
    limits=(
        SIMULATED,
        "That one definer's report never changes another's groups is a property test, not a claim of this study.",
    ),
)
