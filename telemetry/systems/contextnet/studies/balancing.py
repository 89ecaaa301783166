"""E4.3: nodes that all begin at one gateway, with and without the manager that moves them."""

from __future__ import annotations

from collections.abc import Mapping

from telemetry.charts.charts import axis
from telemetry.statistics.intervals import COUNT, SIGNED
from telemetry.studies.criteria import Intervals, Shown, all_of, at_least, at_most
from telemetry.studies.study import Claim, Plot, Quantities, Quantity, Row, Rows, Study, X
from telemetry.systems.contextnet.studies.cells import DEFINITIONS, SIMULATED, one_at_most_in_each

WRITTEN = "2026-11-29, from the contract; a prototype's figures were known, no run of this study"
DAMPED, OFF, UNDAMPED, HEADROOM, LATENCY = "damped", "off", "undamped", "damped, headroom", "latency"
SLACK_S = 5
"""Beyond the time after which a silent connection is given up."""


def arm(row: Row) -> str:
    if not row.settings["balancing"]:
        return OFF
    if row.settings["smoothing"] == 1:
        return UNDAMPED
    return {"capacity": DAMPED, "headroom": HEADROOM, "latency": LATENCY}[row.settings["rank"]]


def _of(rows: Rows, name: str) -> Row:
    found = next((row for row in rows if arm(row) == name), None)
    if found is None:
        raise KeyError(name)
    return found


def _evenly(rows: Rows) -> Quantities:
    of = _of(rows, DAMPED).measures
    return {"until even, s": of["seconds_to_even"], "hand-overs per minute": of["handovers_per_min"]}


def _is_even(figures: Intervals) -> tuple[Shown, Shown]:
    until, moves = figures.values()
    return all_of([at_most(until, 180), at_most(moves, 10)]), at_most(until, 360)


def _held(rows: Rows) -> Quantities:
    """``hold_s`` / the least time between two moves of a node; 0 where none moved twice."""
    row = _of(rows, DAMPED)
    apart = row.measures.get("moves_apart")
    return {"hold_s / least time": row.settings["hold_s"] / apart if apart else 0}


def _restless(rows: Rows) -> Quantities:
    damped, undamped = (_of(rows, name).measures["handovers_per_min"] for name in (DAMPED, UNDAMPED))
    return {"undamped / max(1, damped)": undamped / max(1, damped)}


def _is_restless(figures: Intervals) -> tuple[Shown, Shown]:
    (found,) = figures.values()
    return at_least(found, 20), at_least(found, 2)


def _as_complete(rows: Rows) -> Quantities:
    return {"damped − off": _of(rows, DAMPED).measures["te"] - _of(rows, OFF).measures["te"]}


def _is_as_complete(figures: Intervals) -> tuple[Shown, Shown]:
    (found,) = figures.values()
    return at_least(found, -0.05), at_least(found, -1)


def _back(rows: Rows) -> Quantities:
    row = _of(rows, DAMPED)
    return {"median − idle_s": row.measures["reopened"] - row.settings["idle_s"]}


def _are_back(figures: Intervals) -> tuple[Shown, Shown]:
    (found,) = figures.values()
    return at_most(found, SLACK_S), at_most(found, 60)


def _by_arm(rows: Rows, measure: str) -> Mapping[tuple[str, X], Quantity]:
    return {("all nodes", arm(row)): row.measures[measure] for row in rows if measure in row.measures}


BALANCING_STUDY = Study(
    "E4.3",
    "Balancing",
    "How soon are gateways evenly loaded, and how many moves does it take?",
    DEFINITIONS / "balancing.yaml",
    (
        Plot(
            "moves",
            "Hand-overs per minute, 300 s after the start and the fault",
            axis("Manager"),
            axis("Hand-overs per minute", "", zero=True),
            lambda rows: _by_arm(rows, "handovers_per_min"),
            COUNT,
        ),
        Plot(
            "even",
            "Time until loads are even",
            axis("Manager"),
            axis("Time", "s", zero=True),
            lambda rows: _by_arm(rows, "seconds_to_even"),
            COUNT,
        ),
        Plot(
            "te",
            "Transmission efficiency",
            axis("Manager"),
            axis("Delivered / due", "%"),
            lambda rows: _by_arm(rows, "te"),
            COUNT,
        ),
    ),
    (
        Claim(
            "even",
            "With damping, loads are soon even, and nodes then stay.",
            "The highest load is at most 1.15 of the mean within 180 s, and there are at most 10 hand-overs a minute "
            "300 s after the start and after the fault.",
            "Within 360 s.",
            _evenly,
            _is_even,
            WRITTEN,
            "s or 1/min",
            COUNT,
        ),
        Claim(
            "hold",
            "A node that was moved is left alone.",
            "No node moves twice within hold_s, in each run.",
            "The same.",
            _held,
            one_at_most_in_each,
            WRITTEN,
            scale=COUNT,
        ),
        Claim(
            "damping",
            "Without damping, nodes keep moving.",
            "There are at least 20 times as many hand-overs a minute as with it, or as 1.",
            "Twice as many.",
            _restless,
            _is_restless,
            WRITTEN,
            scale=COUNT,
        ),
        Claim(
            "te",
            "Moving nodes costs no messages.",
            "Transmission efficiency with the manager is at most 0.05 points below that without it.",
            "At most 1 point.",
            _as_complete,
            _is_as_complete,
            WRITTEN,
            "percent",
            SIGNED,
        ),
        Claim(
            "back",
            "Nodes of a gateway that died are soon connected to another one.",
            f"Half of them are within idle_s and {SLACK_S} s.",
            "Within idle_s and a minute.",
            _back,
            _are_back,
            WRITTEN,
            "s",
            SIGNED,
        ),
    ),
    names=("E4.3-balancing",),
    limits=(
        SIMULATED,
        "Loads are shares of given capacities with noise, not measured ones. The paper does not describe the scores of "
        "its manager: ours are judged.",
    ),
)
