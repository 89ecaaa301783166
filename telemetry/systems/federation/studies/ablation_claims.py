"""The hypotheses of E1.5, each by a sign test over replicates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from telemetry.statistics.intervals import SIGNED
from telemetry.studies.criteria import Intervals, Shown, all_of, any_of
from telemetry.studies.study import Claim, Quantities, Row, Rows, where
from telemetry.systems.federation.studies import criteria
from telemetry.systems.federation.studies.cells import MEAN, WRITTEN, ms, only, rates, unsatisfied
from telemetry.systems.federation.studies.criteria import UNITS, UNSATISFIED

ARMS: Mapping[str, Mapping[str, Any]] = {
    "one, no cache": {"topology": "central", "cache_cap": 0.0, "processors": 1},
    "one, cache 15 %": {"topology": "central", "cache_cap": 0.15, "processors": 1},
    "one, cache": {"topology": "central", "cache_cap": 1.0, "processors": 1},
    "one with 3 processors, no cache": {"topology": "central", "cache_cap": 0.0, "processors": 3},
    "one with 3 processors, cache 15 %": {"topology": "central", "cache_cap": 0.15, "processors": 3},
    "one with 3 processors, cache": {"topology": "central", "cache_cap": 1.0, "processors": 3},
    "three in a chain, no cache": {"topology": "line", "cache_cap": 0.0},
    "three in a chain, cache 15 %": {"topology": "line", "cache_cap": 0.15},
    "three in a chain, cache": {"topology": "line", "cache_cap": 1.0},
    "three in a star, no cache": {"topology": "full-mesh", "cache_cap": 0.0},
    "three in a star, cache 15 %": {"topology": "full-mesh", "cache_cap": 0.15},
    "three in a star, cache": {"topology": "full-mesh", "cache_cap": 1.0},
}
FAST, SLOW = 10.0, 60.0
"""Rates at which a broker is hardly busy, and nearly all the time."""
FACTORS_AT = (10.0, 40.0, 60.0)
MOST_FACTOR = 3.0
LOSSES = ("lost", "duplicates", "duplicates_cached", "spurious")
ROUTINGS: Mapping[str, tuple[str, str]] = {
    "notifications flooded": ("notifications", "off"),
    "subscriptions flooded": ("flooding", "off"),
    "subscriptions flooded, covering": ("flooding", "covering"),
    "subscriptions flooded, merging": ("flooding", "merging"),
    "advertisements": ("advertisements", "off"),
    "advertisements, covering": ("advertisements", "covering"),
    "advertisements, merging": ("advertisements", "merging"),
}
ADVERTISED, FLOODED = "advertisements", "subscriptions flooded"


def _queries(rows: Rows) -> list[Row]:
    return where(rows, kind="once")


def arm(rows: Rows, name: str, rate: float) -> Row:
    """The run of ``ARMS`` at a rate, no broker on a phone. Raises ``KeyError``."""
    return only(where(_queries(rows), **ARMS[name], rate_per_s=rate, mobile_factor=1.0))


def by_factor(rows: Rows, rate: float) -> dict[float, Row]:
    """Three brokers in a chain with a cache for 15 %, by mobile factor."""
    own = where(_queries(rows), topology="line", cache_cap=0.15, rate_per_s=rate)
    return {
        float(row.settings["mobile_factor"]): row for row in sorted(own, key=lambda row: row.settings["mobile_factor"])
    }


def sizes(rows: Rows) -> list[int]:
    return sorted({row.brokers for row in _streams(rows)})


def _streams(rows: Rows) -> list[Row]:
    """Those of routing: without faults, on a tree."""
    return [row for row in where(rows, kind="stream", cycles="tree") if row.topology != "ring" and not row.faults]


def of_routing(rows: Rows, name: str, brokers: int) -> Row | None:
    routing, covering = ROUTINGS[name]
    found = where(_streams(rows), routing=routing, covering=covering, brokers=brokers)
    return found[0] if len(found) == 1 else None


def of_cycles(rows: Rows) -> dict[str, Row]:
    """By topology, setting and fault."""
    chosen = where(rows, kind="stream", routing="advertisements", covering="off")
    own = [row for row in chosen if row.topology in ("ring", "waxman")]
    return {f"{row.topology} of {row.brokers}, {row.settings['cycles']}, {_fault(row)}": row for row in own}


def _fault(row: Row) -> str:
    kinds = {"kill": "kill-one", "impaired": "cut-one"}
    return kinds.get(str(row.faults[0]["what"]), "?") if row.faults else "no fault"


# ---- what is looked at


def _difference(rows: Rows, pairs: Iterable[tuple[str, str, float]]) -> Quantities:
    """T_S of one arm − of another, ms, by what is expected of it."""
    found, cells = dict[str, float](), list[Row]()
    for one, other, rate in pairs:
        ours, theirs = arm(rows, one, rate), arm(rows, other, rate)
        word = "longer" if rate == FAST and one.startswith("three") else "shorter"
        found[f"{one} − {other} at {rate:g}, {word}"] = ms(ours, MEAN) - ms(theirs, MEAN)
        cells += [ours, theirs]
    return {**found, UNSATISFIED: unsatisfied(cells)}


def _processors(rows: Rows) -> Quantities:
    own = where(_queries(rows), topology="central", processors=3)
    pairs = [
        (f"one with 3 processors, {cache}", f"three in a chain, {cache}", rate)
        for cache in ("no cache", "cache 15 %")
        for rate in rates(own)
        if where(own, cache_cap=0.0 if cache == "no cache" else 0.15, rate_per_s=rate)
    ]
    if not pairs:
        raise KeyError("processors")
    return _difference(rows, pairs)


def _factors(rows: Rows) -> Quantities:
    one = arm(rows, "one, no cache", SLOW)
    found = by_factor(rows, SLOW)
    if len(found) < 2:
        raise KeyError("mobile_factor")
    return {f"{factor:g}": ms(row, MEAN) - ms(one, MEAN) for factor, row in found.items()}


def _is_slower_from(figures: Intervals) -> tuple[Shown, Shown]:
    """Some factor up to 3 from which on three brokers are slower."""
    slower = {float(name): criteria.is_positive(one) for name, one in figures.items()}
    holds = any_of(
        all_of(word for other, word in slower.items() if other >= factor) for factor in slower if factor <= MOST_FACTOR
    )
    return holds, holds


def _subscribed(rows: Rows) -> Quantities:
    return {
        f"{brokers} brokers, fewer": ours.measures["messages_per_subscription"]
        - theirs.measures["messages_per_subscription"]
        for brokers, ours, theirs in _routed(rows)
    }


def _forwarded(rows: Rows) -> Quantities:
    return {
        f"{brokers} brokers": ours.measures["messages_per_notification"] - theirs.measures["messages_per_notification"]
        for brokers, ours, theirs in _routed(rows)
    }


def _routed(rows: Rows) -> list[tuple[int, Row, Row]]:
    found = [(n, of_routing(rows, ADVERTISED, n), of_routing(rows, FLOODED, n)) for n in sizes(rows)]
    known = [(n, ours, theirs) for n, ours, theirs in found if ours is not None and theirs is not None]
    if not known:
        raise KeyError("routing")
    return known


def _are_zero(figures: Intervals) -> tuple[Shown, Shown]:
    holds = not any(value for one in figures.values() for value in one["replicates"])
    return holds, holds


def _lost(rows: Rows) -> Quantities:
    found = dict[str, float]()
    for place, row in of_cycles(rows).items():
        lost, duplicates, cached, spurious = (row.measures[name] for name in LOSSES)
        found |= {f"lost, {place}": lost, f"twice, {place}": duplicates - cached, f"spurious, {place}": spurious}
    if not found:
        raise KeyError("cycles")
    return found


# ---- claims


def _claim(
    id: str, said: str, criterion: str, measure: Callable[[Rows], Quantities], judge: criteria.Judge, unit: str
) -> Claim:
    return Claim(id, said, criterion, "The same.", measure, judge, WRITTEN, unit, SIGNED, units=UNITS)


CLAIMS = (
    _claim(
        "H1",
        "The cache alone shortens T_S under load.",
        "At 60 queries/s one broker with a cache for 15 % has a smaller mean than one without.",
        partial(_difference, pairs=(("one, cache 15 %", "one, no cache", SLOW),)),
        criteria.by_signs,
        "ms",
    ),
    _claim(
        "H2",
        "Three brokers without a cache shorten T_S under load and lengthen it without.",
        "Their mean is smaller than that of one at 60 queries/s, and larger at 10.",
        partial(
            _difference, pairs=tuple(("three in a chain, no cache", "one, no cache", rate) for rate in (FAST, SLOW))
        ),
        criteria.by_signs,
        "ms",
    ),
    _claim(
        "H3",
        "One broker with three processors beats three with one each.",
        "Its mean is smaller at every rate, with the same cache.",
        _processors,
        criteria.by_signs,
        "ms",
    ),
    _claim(
        "H4",
        "A phone three times as slow is enough to make three brokers slower than one.",
        "At 60 queries/s there is a mobile factor of at most 3 from which on their mean is larger.",
        _factors,
        _is_slower_from,
        "ms",
    ),
    _claim(
        "H5",
        "Routing by advertisements sends fewer messages per subscription than flooding.",
        "The difference is negative at every number of brokers.",
        _subscribed,
        criteria.by_signs,
        "messages",
    ),
    _claim(
        "H5-forwards",
        "Both send the same notifications.",
        "Messages per notification are equal in every run.",
        _forwarded,
        _are_zero,
        "messages",
    ),
    _claim(
        "cycles",
        "On graphs with cycles nothing is lost, comes twice or without a subscription, also around faults.",
        "No notification is, in any run. Those missed around a fault are counted apart, and so are those that "
        "the cache of a consumer's next broker sends it again, which no way through the graph explains.",
        _lost,
        _are_zero,
        "notifications",
    ),
)
