"""E4.7: what the wait for a report of connections costs."""

from __future__ import annotations

from collections.abc import Mapping

from telemetry.charts.charts import axis
from telemetry.statistics.intervals import COUNT
from telemetry.studies.criteria import Intervals, Shown, all_of, within
from telemetry.studies.study import Claim, Plot, Quantities, Quantity, Row, Rows, Study, X, where
from telemetry.systems.contextnet.studies.cells import DEFINITIONS, SIMULATED

WRITTEN = "2026-11-29, from how the store works; no run of this study was known"
DELAY = "stored_delay_mean"
REPORT, PRESENCE = "report", "presence"


def _ratios(rows: Rows) -> Quantities:
    """The mean time of stored messages / what outage and report make of it, by arm and period. Raises ``KeyError``."""
    found = {_named(row): row.measures[DELAY] / _wait_s(row) for row in rows}
    if not any(name.startswith(REPORT) for name in found) or PRESENCE not in found:
        raise KeyError(DELAY)
    return found


def _named(row: Row) -> str:
    return PRESENCE if row.get("presence_events") else f"{REPORT}, {row.get('ping_period_s')} s"


def _wait_s(row: Row) -> float:
    """A message comes at any time of the outage, and the node returns at any time between two reports."""
    until_report = 0 if row.get("presence_events") else row.get("ping_period_s")
    return float(row.get("off_s") + until_report) / 2


def _are_near(figures: Intervals) -> tuple[Shown, Shown]:
    found = figures.values()
    return all_of(within(one, 0.05) for one in found), all_of(within(one, 0.15) for one in found)


def _by_period(rows: Rows) -> Mapping[tuple[str, X], Quantity]:
    reports = where(rows, presence_events=False)
    found: dict[tuple[str, X], Quantity] = {
        ("by reports", float(row.get("ping_period_s"))): row.measures[DELAY] for row in reports
    }
    for row in where(rows, presence_events=True):
        found["at once", 0.0] = row.measures[DELAY]
    return found


PRESENCE_STUDY = Study(
    "E4.7",
    "Presence",
    "How long does a stored message wait for the store to learn that its node is back?",
    DEFINITIONS / "presence.yaml",
    (
        Plot(
            "delay",
            "Mean RTT of stored messages",
            axis("Period of reports", "s"),
            axis("Mean RTT", "s"),
            _by_period,
            COUNT,
        ),
    ),
    (
        Claim(
            "wait",
            "A stored message waits for half of the outage and half of the period of reports; with presence, for half "
            "of the outage.",
            "The mean RTT of stored messages is within 5 % of (off_s + ping_period_s) / 2, and of off_s / 2 with "
            "presence.",
            "It is within 15 %.",
            _ratios,
            _are_near,
            WRITTEN,
        ),
    ),
    names=("E4.7-presence",),
    limits=(SIMULATED,),
)
