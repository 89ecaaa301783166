"""E1.2, Fig. 12: quantiles of T_S over short links (LAN) against long ones (WAN)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from overlay.systems.federation.measuring.figures import QUANTILES
from telemetry.charts.charts import axis
from telemetry.statistics.intervals import SIGNED
from telemetry.studies.judging import Result
from telemetry.studies.study import Claim, Plot, Quantities, Quantity, Row, Rows, Study, X, where
from telemetry.systems.federation.published import find
from telemetry.systems.federation.studies import criteria
from telemetry.systems.federation.studies.cells import (
    DEFINITIONS,
    ONE,
    SIMULATED,
    THREE,
    TIME_AXIS,
    WRITTEN,
    ms,
    of_arm,
    only,
    unsatisfied,
)
from telemetry.systems.federation.studies.telling import values

LAN, WAN = 1.0, 10.0
"""Delay of every link, ms."""
LINKS = {LAN: "LAN, 1 ms", WAN: "WAN, 10 ms"}
FIGURES = {ONE: "12a", THREE: "12b"}
SOURCES = {
    ONE: find("e1_2", "Q-Q of T_S", "non-federated, LAN against WAN").source,
    THREE: find("e1_2", "Q-Q of T_S", "federated, LAN against WAN").source,
}


def _cell(rows: Rows, arm: str, delay_ms: float) -> Row:
    return only(where(of_arm(rows, arm), client_delay_ms=delay_ms))


def _differences(rows: Rows, arm: str) -> Quantities:
    lan, wan = (_cell(rows, arm, delay) for delay in (LAN, WAN))
    found = {f"{share} %": ms(wan, f"ts_p{share}") - ms(lan, f"ts_p{share}") for share in QUANTILES}
    spread = {criteria.SPREAD: ms(lan, "ts_p75") - ms(lan, "ts_p25")}
    return {**found, **spread, criteria.UNSATISFIED: unsatisfied([lan, wan])}


def _named(rows: Rows, arm: str) -> Quantities:
    """For both predicates."""
    found = _differences(rows, arm)
    return {
        **{f"G: {name}": value for name, value in found.items() if name != criteria.UNSATISFIED},
        **{f"H: {name}": value for name, value in found.items() if name not in (criteria.UNSATISFIED, criteria.SPREAD)},
        criteria.UNSATISFIED: found[criteria.UNSATISFIED],
    }


def _quantiles(rows: Rows, arm: str) -> Mapping[tuple[str, X], Quantity]:
    """Against the quantile: the two series overlap where the paper's points are on the diagonal."""
    return {
        (LINKS[delay], float(share)): ms(_cell(rows, arm, delay), f"ts_p{share}")
        for delay in LINKS
        for share in QUANTILES
    }


def tell(result: Result) -> Sequence[str]:
    said = []
    for arm, plot in FIGURES.items():
        found = values(result, plot)
        if found:
            lan, wan = ({share: found[name, share] for share in QUANTILES} for name in LINKS.values())
            spread = lan[75] - lan[25]
            inside = max(abs(wan[share] - lan[share]) for share in QUANTILES if 5 <= share <= 95)
            said.append(
                f"With {arm}, quantiles from 5 to 95 % differ by up to {inside:.1f} ms, {inside / spread:.2f} of the "
                f"quartile distance of {spread:.1f} ms."
            )
            if spread / 4 < WAN:
                said.append(
                    f"A link of {WAN:g} ms is more than a quarter of that distance, so G cannot hold by arithmetic."
                )
    return said


WAN_STUDY = Study(
    "E1.2",
    "Long links",
    "Does T_S, the time to satisfy a query, have the same distribution over short links (LAN) and long ones (WAN)?",
    DEFINITIONS / "wan.yaml",
    tuple(
        Plot(
            FIGURES[arm],
            f"Quantiles of T_S over short and long links ({arm})",
            axis("% quantile"),
            TIME_AXIS,
            partial(_quantiles, arm=arm),
            source=SOURCES[arm],
        )
        for arm in FIGURES
    ),
    tuple(
        Claim(
            f"fig-{FIGURES[arm]}",
            f"Points of LAN and WAN approximately overlap and diverge at the extremes ({arm}).",
            "G: every measured quantile from 5 to 95 % (5, 10, 20, 25, 30 and so on) differs by at most 0.25 of the "
            "quartile distance. H: the largest difference outside exceeds the median one inside.",
            "H, and G after subtracting the difference of medians.",
            partial(_named, arm=arm),
            criteria.together(
                {"G": criteria.overlaps, "H": criteria.differs_at_ends},
                {"G": criteria.overlaps_shifted, "H": criteria.differs_at_ends},
            ),
            WRITTEN,
            "ms",
            SIGNED,
            source=SOURCES[arm],
            units=criteria.UNITS,
        )
        for arm in FIGURES
    ),
    names=("E1.2-wan",),
    says="Points of the Q-Q plots approximately overlap and diverge only at the extremes, with one broker and three.",
    sources=tuple(SOURCES.values()),
    limits=(
        SIMULATED,
        "At 30 queries per second: which subset of its results the paper draws is not said.",
        "A WAN link of 10 ± 8 ms loses 0.2 % of datagrams; the paper only says that it crosses a city.",
    ),
    tell=tell,
)
