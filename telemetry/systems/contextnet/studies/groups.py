"""E4.11: messages to groups that several definers make."""

from __future__ import annotations

from telemetry.statistics.intervals import COUNT
from telemetry.studies.study import Claim, Quantities, Rows, Study
from telemetry.systems.contextnet.studies.cells import DEFINITIONS, SIMULATED, none_in_each

WRITTEN = "2026-11-29, from the contract; no run of this study was known"


def _wrong(rows: Rows) -> Quantities:
    found = {f"run {number}": row.measures["group_wrong"] for number, row in enumerate(rows, 1)}
    if not found:
        raise KeyError("group_wrong")
    return found


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
            none_in_each,
            WRITTEN,
            "deliveries",
            COUNT,
        ),
    ),
    names=("E4.11-groups",),
    limits=(
        SIMULATED,
        "That one definer's report never changes another's groups is a property test, not a claim of this study.",
    ),
)
