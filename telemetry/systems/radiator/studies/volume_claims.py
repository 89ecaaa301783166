"""The claims of E3.1: what compression and aggregation save, and what they do to lag."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from telemetry.statistics.intervals import SIGNED
from telemetry.studies.criteria import Intervals, Shown, all_of, are_at_least, are_between, at_least, at_most, between
from telemetry.studies.study import Claim, Quantities, Row, Rows, Source, where
from telemetry.systems.radiator.studies.arms import (
    LAG,
    LESS,
    MORE,
    SHARES,
    VARIATION,
    WRITTEN,
    equal_work,
    of_volume,
    ratio,
    saturated,
    saved,
)

TABLE_3 = Source("Table 3 and Fig. 3", "354, 391 to 394")
EQUAL, SATURATED = "equal work", "saturated"
Arm = Callable[[Rows], list[Row]]
ARMS: Mapping[str, Sequence[tuple[str, Arm]]] = {
    EQUAL: (("equal work", equal_work),),
    SATURATED: tuple((f"uplink / {share}", partial(saturated, share=share)) for share in SHARES),
}


# ---- bytes, in both arms


def _saved(rows: Rows, arm: str, volume: int, of: tuple[int, str]) -> dict[str, float]:
    """By ``volume`` with gzip, of another arm: its volume and codec."""
    return {name: saved(of_volume(chosen(rows), volume), of_volume(chosen(rows), *of)) for name, chosen in ARMS[arm]}


def _saved_more(rows: Rows, arm: str) -> Quantities:
    """R3 with R2's share next to it: the shape compares them."""
    by_50, by_20 = (_saved(rows, arm, volume, (1, "gzip")) for volume in (50, 20))
    return {**by_50, **{f"{name}, 50 above 20": by_50[name] - by_20[name] for name in by_50}}


def _saves_more(figures: Intervals, low: float, high: float) -> tuple[Shown, Shown]:
    by_50 = [figure for name, figure in figures.items() if not name.endswith("above 20")]
    more = [figure for name, figure in figures.items() if name.endswith("above 20")]
    return all_of(between(one, low, high) for one in by_50), all_of(at_least(one, 1e-9) for one in more)


def _of_bytes(arm: str) -> tuple[Claim, ...]:
    def claim(
        id: str, said: str, criterion: str, shape: str, measure: object, judge: object, published: float
    ) -> Claim:
        known = {name: published for name, _ in ARMS[arm]}
        return Claim(
            f"{id}-{arm.split()[0]}",
            f"{said} ({arm}).",
            criterion,
            shape,
            measure,  # type: ignore[arg-type]
            judge,  # type: ignore[arg-type]
            WRITTEN,
            "share",
            SIGNED,
            known,
            TABLE_3,
        )

    return (
        claim(
            "R1",
            "Compression alone saves 25 % of the server's traffic",
            "1 − bytes per pair at Vol 1 with gzip / without is from 0.194 to 0.30.",
            "It is above 0.",
            partial(_saved, arm=arm, volume=1, of=(1, "none")),
            are_between(0.194, 0.30, (1e-9, 1.0)),
            0.244,
        ),
        claim(
            "R2",
            "Aggregates of 20 save another 8 %",
            "1 − bytes per pair at Vol 20 / Vol 1 is from 0.027 to 0.13.",
            "It is above 0.",
            partial(_saved, arm=arm, volume=20, of=(1, "gzip")),
            are_between(0.027, 0.13, (1e-9, 1.0)),
            0.077,
        ),
        claim(
            "R3",
            "Aggregates of 50 save 40 %",
            "1 − bytes per pair at Vol 50 / Vol 1 is from 0.348 to 0.45.",
            "It is above that at Vol 20.",
            partial(_saved_more, arm=arm),
            partial(_saves_more, low=0.348, high=0.45),
            0.398,
        ),
    )


# ---- lag


def _gzip_lag(rows: Rows, chosen: Arm) -> Quantities:
    return {"Vol 1, gzip / none": ratio(of_volume(chosen(rows), 1), of_volume(chosen(rows), 1, "none"), LAG)}


def _keeps(figures: Intervals) -> tuple[Shown, Shown]:
    (found,) = figures.values()
    return between(found, 0.82, 1.23), at_most(found, 1.23)


def _lags(rows: Rows, share: float) -> Quantities:
    arm = saturated(rows, share)
    by_20, by_50 = (ratio(of_volume(arm, volume), of_volume(arm, 1), LAG) for volume in (20, 50))
    return {"Vol 20 / Vol 1": by_20, "Vol 50 / Vol 1": by_50, "Vol 50 / Vol 20": by_50 / by_20}


def _lowers(figures: Intervals) -> tuple[Shown, Shown]:
    by_20, by_50, more = figures.values()
    order = at_least(more, MORE)
    criterion = all_of((between(by_20, 0.65, 0.97), between(by_50, 0.69, 1.03), order))
    return criterion, all_of((at_most(by_20, LESS), at_most(by_50, LESS), order))


def _of_lag() -> tuple[Claim, ...]:
    arms: list[tuple[str, str, Arm]] = [("equal", "equal work", equal_work)]
    arms += [(f"{share}", f"uplink / {share}", partial(saturated, share=share)) for share in SHARES]
    keeps = tuple(
        Claim(
            f"R4-{id}",
            f"Compression leaves the lag as it is ({name}).",
            "Mean lag at Vol 1 with gzip / without is from 0.82 to 1.23.",
            "It is at most 1.23.",
            partial(_gzip_lag, chosen=chosen),
            _keeps,
            WRITTEN,
            published={"Vol 1, gzip / none": 42 / 41},
            source=TABLE_3,
        )
        for id, name, chosen in arms
    )
    lowers = tuple(
        Claim(
            f"R5-{share}",
            f"Under load aggregation lowers the lag (uplink / {share}).",
            "Mean lag at Vol 20 / Vol 1 is from 0.65 to 0.97, at Vol 50 / Vol 1 from 0.69 to 1.03, and higher at "
            "Vol 50.",
            "Both are below 1, and higher at Vol 50.",
            partial(_lags, share=share),
            _lowers,
            WRITTEN,
            published={"Vol 20 / Vol 1": 34 / 42, "Vol 50 / Vol 1": 36 / 42, "Vol 50 / Vol 20": 36 / 34},
            source=TABLE_3,
        )
        for share in SHARES
    )
    return (*keeps, *lowers)


# ---- variation, and that everyone receives everything


def _bursts(rows: Rows) -> Quantities:
    arm = equal_work(rows)
    return {
        "Vol 20 / Vol 1": ratio(of_volume(arm, 20), of_volume(arm, 1), VARIATION),
        "Vol 50 / Vol 20": ratio(of_volume(arm, 50), of_volume(arm, 20), VARIATION),
    }


def _is_bursty(figures: Intervals) -> tuple[Shown, Shown]:
    by_20, by_50 = (at_least(figure, MORE) for figure in figures.values())
    return all_of((by_20, by_50)), by_20


def _share_of_pairs(rows: Rows, *states: str) -> float:
    due = sum(row.measures["pairs_due"] for row in rows)
    if not due:
        raise KeyError("pairs_due")
    return sum(row.measures[state] for row in rows for state in states) / due


def _everyone(rows: Rows) -> Quantities:
    return {
        "delivered or retained": _share_of_pairs(equal_work(rows), "pairs_delivered", "pairs_retained"),
        "delivered, with deadlines": _share_of_pairs(where(rows, flush="deadline"), "pairs_delivered"),
    }


CLAIMS = (
    *_of_bytes(EQUAL),
    *_of_bytes(SATURATED),
    *_of_lag(),
    Claim(
        "R6",
        "Traffic is even at Vol 1 and in bursts at Vol 20 and 50.",
        "The variation of outbound bytes per second is higher at Vol 50 than at Vol 20, and there than at Vol 1.",
        "It is higher at Vol 20 than at Vol 1.",
        _bursts,
        _is_bursty,
        WRITTEN,
        source=Source("Fig. 3 and its text", "356"),
    ),
    Claim(
        "R14",
        "Everyone receives everything.",
        "Of the pairs due all are delivered or retained, and with deadlines and a drain all are delivered.",
        "At least 99.9 % are.",
        _everyone,
        are_at_least(1.0, 0.999),
        WRITTEN,
        "share",
        SIGNED,
        source=Source("Section 3.1", "184, 248"),
    ),
)
