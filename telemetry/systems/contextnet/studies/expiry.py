"""E4.8: messages that live for less time than they would be stored."""

from __future__ import annotations

from collections.abc import Mapping

from telemetry.charts.charts import axis
from telemetry.statistics.intervals import COUNT, SIGNED
from telemetry.studies.criteria import Intervals, Shown, all_of, between
from telemetry.studies.study import Claim, Plot, Quantities, Quantity, Row, Rows, Study, X
from telemetry.systems.contextnet.studies.cells import DEFINITIONS, EACH, SIMULATED, one_at_most_in_each

WRITTEN = "2026-11-29, from how the store works; no run of this study was known"
CLOCK_S = 0.001
"""Times are milliseconds in records."""


def exceeding(bound: float, one: float, other: float) -> float:
    """The probability that U(0, ``one``) + U(0, ``other``) is more than ``bound``."""
    if not other:
        return max(0.0, 1 - bound / one)
    area = sum(sign * max(0.0, bound - corner) ** 2 / 2 for sign, corner in _corners(one, other))
    return 1 - area / (one * other)


def _corners(one: float, other: float) -> tuple[tuple[int, float], ...]:
    return (1, 0), (-1, one), (-1, other), (1, one + other)


def _named(row: Row) -> str:
    return f"{row.settings['ttl_default_s']:g} s"


def _computed(row: Row) -> float:
    wait = 0 if row.settings["presence_events"] else row.settings["ping_period_s"]
    return 100 * exceeding(row.settings["ttl_default_s"], row.workload["off_s"], wait)


def _found(row: Row) -> float:
    return 100 * row.measures["expired"] / row.measures["due_while_off"]


def _beyond(rows: Rows) -> Quantities:
    return {_named(row): _found(row) - _computed(row) for row in rows if row.measures["due_while_off"]}


def _is_near(figures: Intervals) -> tuple[Shown, Shown]:
    def each(points: float) -> Shown:
        return all_of(between(one, -points, points) for one in figures.values())

    return each(1), each(5)


def _longest(rows: Rows) -> Quantities:
    return {
        _named(row): row.measures.get("stored_longest", 0) / (row.settings["ttl_default_s"] + CLOCK_S) for row in rows
    }


def _shares(rows: Rows, is_computed: bool) -> Mapping[tuple[str, X], Quantity]:
    of, name = (_computed, "computed") if is_computed else (_found, "simulated")
    return {(name, float(row.settings["ttl_default_s"])): of(row) for row in rows if row.measures["due_while_off"]}


EXPIRY_STUDY = Study(
    "E4.8",
    "Expiry",
    "How many messages expire before their node is back?",
    DEFINITIONS / "expiry.yaml",
    (
        Plot(
            "expired",
            "Expired, of messages that were due while their node was off",
            axis("Lifetime", "s"),
            axis("Expired", "%", zero=True),
            lambda rows: {**_shares(rows, False), **_shares(rows, True)},
            COUNT,
        ),
    ),
    (
        Claim(
            "share",
            "As many expire as outages and the wait for a report are longer than their lifetime.",
            "Expired / messages due while their node is off is within 1 point of P(U(0, off_s) + U(0, ping_period_s) > "
            "lifetime).",
            "Within 5 points.",
            _beyond,
            _is_near,
            WRITTEN,
            "points",
            SIGNED,
        ),
        Claim(
            "in-time",
            "The store sends no message after its lifetime.",
            "The longest time from when a message was due until the store sent it is at most its lifetime, in each "
            "run.",
            "The same.",
            _longest,
            one_at_most_in_each,
            WRITTEN + EACH,
            scale=COUNT,
        ),
    ),
    names=("E4.8-expiry",),
    limits=(SIMULATED,),
)
