"""E3.3 and E3.4: aggregation together with chains, and the paper's factor of 20."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from telemetry.charts.charts import axis
from telemetry.studies.criteria import Intervals, Shown, all_of, any_of, at_least, at_most, between
from telemetry.studies.study import Claim, Plot, Quantities, Quantity, Rows, Source, Study, X, mean, where
from telemetry.systems.radiator.studies.arms import (
    BYTES,
    BYTES_AXIS,
    DEFINITIONS,
    EVERYONE,
    LAG,
    LAG_AXIS,
    LESS,
    MORE,
    OVERLOAD,
    VOLUMES,
    WRITTEN,
    by_the_first_that_holds,
    of_volume,
    ratio,
)

TABLE_5 = Source("Table 5", "427 to 429")
HEADLINE = Source("Abstract and conclusions", "19, 496")
LOADS = {0.5: "uplink / 0.5", 1.1: "uplink / 1.1", 1.5: "uplink / 1.5"}
"""By ``uplink_share``: half of the uplink is used, or it is too small."""
LIMITS = {0: "no limit", 1.1: "uplink / 1.1", 1.5: "uplink / 1.5"}
FACTOR, LAGS = "bytes without / with", "lag with / without"


# ---- E3.3


def _lowered(rows: Rows, share: float) -> Quantities:
    arm = where(rows, uplink_share=share)
    by_20, by_50 = (ratio(of_volume(arm, volume), of_volume(arm, 1), LAG) for volume in (20, 50))
    return {"Vol 20 / Vol 1": by_20, "Vol 50 / Vol 1": by_50, "Vol 50 / Vol 20": by_50 / by_20}


def _lowers(figures: Intervals) -> tuple[Shown, Shown]:
    by_20, by_50, more = figures.values()
    criterion = all_of((between(by_20, 0.44, 0.66), between(by_50, 0.57, 0.86)))
    return criterion, all_of((at_least(more, MORE), at_most(by_50, LESS)))


def _lag_by_volume(rows: Rows) -> Mapping[tuple[str, X], Quantity]:
    return {
        (name, f"Vol {volume}"): mean(of_volume(where(rows, uplink_share=share), volume), LAG)
        for share, name in LOADS.items()
        for volume in VOLUMES
    }


BOTH_STUDY = Study(
    "E3.3",
    "Aggregation with chains",
    "With chains of 600, does aggregation still lower the lag?",
    DEFINITIONS / "both.yaml",
    (Plot("lag", "Mean lag by volume, with chains", axis("Volume"), LAG_AXIS, _lag_by_volume),),
    by_the_first_that_holds(
        Claim(
            f"R12-{share}",
            f"With chains aggregation lowers the lag ({name}).",
            "Mean lag at Vol 20 / Vol 1 is from 0.44 to 0.66, at Vol 50 / Vol 1 from 0.57 to 0.86.",
            "It is lower at Vol 20 than at Vol 50, and there below 1.",
            partial(_lowered, share=share),
            _lowers,
            WRITTEN,
            published={"Vol 20 / Vol 1": 41 / 74, "Vol 50 / Vol 1": 53 / 74, "Vol 50 / Vol 20": 53 / 41},
            source=TABLE_5,
        )
        for share, name in LOADS.items()
    ),
    says="With chains of 600 the lag falls from 74 s to 41 s with aggregates of 20, and to 53 s with aggregates of 50.",
    sources=(TABLE_5,),
    limits=(EVERYONE, OVERLOAD, "The uplink is a share of what chains at one message per push need."),
)


# ---- E3.4


def _headline(rows: Rows, share: float) -> Quantities:
    arm = where(rows, uplink_share=share)
    without, both = where(arm, codec="none"), where(arm, codec="gzip")
    return {FACTOR: ratio(without, both, BYTES), LAGS: ratio(both, without, LAG)}


def _is_there(figures: Intervals) -> tuple[Shown, Shown]:
    factor, lag = figures[FACTOR], figures[LAGS]
    is_20, is_2, is_no_worse = at_least(factor, 20.0), at_least(factor, 2.0), at_most(lag, 1.05)
    return all_of((is_20, is_no_worse)), any_of((is_20, all_of((is_2, is_no_worse))))


def _of_arms(rows: Rows, measure: str) -> Mapping[tuple[str, X], Quantity]:
    arms = {"none": "no chains, no aggregation, no compression", "gzip": "chains, Vol 20, gzip"}
    return {
        (arm, name): mean(where(rows, codec=codec, uplink_share=share), measure)
        for codec, arm in arms.items()
        for share, name in LIMITS.items()
    }


HEADLINE_STUDY = Study(
    "E3.4",
    "The headline",
    "Does Radiator need a twentieth of a centralised server's traffic, and is the lag no worse?",
    DEFINITIONS / "headline.yaml",
    (
        Plot("bytes", "Bytes per pair", axis("Uplink"), BYTES_AXIS, partial(_of_arms, measure=BYTES)),
        Plot("lag", "Mean lag", axis("Uplink"), LAG_AXIS, partial(_of_arms, measure=LAG)),
    ),
    by_the_first_that_holds(
        Claim(
            f"R13-{share}",
            f"Radiator needs a twentieth of the traffic, and the lag is no worse ({name}).",
            "Bytes per pair without chains, aggregation and compression / with all three are at least 20, and the lag "
            "with all three is at most 1.05 times that without.",
            "The bytes are at least 20, or at least 2 with that lag.",
            partial(_headline, share=share),
            _is_there,
            WRITTEN,
            published={FACTOR: 20.0},
            source=HEADLINE,
        )
        for share, name in LIMITS.items()
    ),
    says="Radiator uses 20 times less bandwidth than a centralised server that does not aggregate, without affecting "
    "lag.",
    sources=(HEADLINE,),
    limits=(EVERYONE, OVERLOAD),
)
