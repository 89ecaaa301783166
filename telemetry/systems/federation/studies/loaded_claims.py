"""The claims of E1.1, once for each assumption of service time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from math import inf

from telemetry.statistics.intervals import SIGNED
from telemetry.studies.study import Claim, Quantities, Row, Rows, Source, where
from telemetry.systems.federation.published import find
from telemetry.systems.federation.studies import criteria
from telemetry.systems.federation.studies.cells import (
    DEVIATION,
    MEAN,
    ONE,
    THREE,
    WRITTEN,
    at_rate,
    mean_ms,
    ms,
    of_arm,
    of_service,
    only,
    rates,
    unsatisfied,
)

LOADED = 0.8
"""From this share of the highest rate on, three brokers are to be faster: from 50/s, where it is 60."""
LEAST_RATES = 2
RISE = "rise of three / rise of one"
HITS = "(hits − 1) / subscriptions"


@dataclass(frozen=True, slots=True)
class Service:
    """An assumption of service time."""

    id: str
    name: str
    mean_ms: float
    cv: float = 1.0
    above: float = 0.0
    up_to: float = inf
    """Of rates above the first one, and up to this one."""

    def of(self, rows: Rows) -> list[Row]:
        own = of_service(rows, self.mean_ms, self.cv)
        return [row for row in own if self.above < row.workload["rate_per_s"] <= self.up_to]


MODELLED = Service("7", "7 ms a visit, exponential", 7.0)
NONE = Service("0", "no modelled service time", 0.0)
OTHERS = tuple(
    Service(f"{mean:g}-{cv:g}", f"{mean:g} ms a visit, coefficient of variation {cv:g}", mean, cv)
    for mean in (0.5, 2.0, 5.0, 7.0, 7.8)
    for cv in (0.3, 1.0, 2.0)
    if (mean, cv) != (7.0, 1.0)
)
SERVICES = (MODELLED, NONE, *OTHERS)


# ---- quantities, of the runs with one service time


def _ends(rows: Rows) -> tuple[float, float]:
    """The lowest and the highest rate. Raises ``KeyError``."""
    known = rates(rows)
    if len(known) < LEAST_RATES:
        raise KeyError("rate_per_s")
    return known[0], known[-1]


def rise(rows: Rows) -> Quantities:
    found: dict[str, float] = {}
    for arm in (ONE, THREE):
        own = of_arm(rows, arm)
        for low, high in dict.fromkeys([_ends(own), *pairwise(rates(own))]):
            found[criteria.rise_name(arm, low, high)] = mean_ms(own, arm, high) - mean_ms(own, arm, low)
    return found


def relative_rise(rows: Rows) -> Quantities:
    low, high = _ends(rows)
    one, three = (mean_ms(rows, arm, high) - mean_ms(rows, arm, low) for arm in (ONE, THREE))
    return {RISE: three / one if one else float("inf")}


def deviation(rows: Rows) -> Quantities:
    low, high = _ends(rows)
    one, three = (mean_ms(rows, arm, high, DEVIATION) for arm in (ONE, THREE))
    return {
        f"{criteria.SD_RATIO} at {high:g} / at {low:g}": one / mean_ms(rows, ONE, low, DEVIATION),
        f"{criteria.SD_DIFFERENCE} at {high:g}": three - one,
    }


def difference(rows: Rows) -> Quantities:
    _, high = _ends(rows)
    known = [rate for rate in rates(of_arm(rows, THREE)) if rate >= LOADED * high]
    return {f"three − one at {rate:g}": mean_ms(rows, THREE, rate) - mean_ms(rows, ONE, rate) for rate in known}


def hits(rows: Rows) -> Quantities:
    return {f"{HITS} at {row.workload['rate_per_s']:g}": row.measures["cache_hit_share_max"]
            for row in _usual(rows, THREE)}  # fmt: skip


def _usual(rows: Rows, arm: str) -> list[Row]:
    own = of_arm(rows, arm)
    return [at_rate(own, rate) for rate in rates(own)]


PARTS: Mapping[str, Callable[[Rows], Quantities]] = {
    "A": rise,
    "B": relative_rise,
    "C": deviation,
    "D": difference,
    "E": hits,
}


def _part(rows: Rows, service: Service, part: str) -> Quantities:
    chosen = service.of(rows)
    return {**PARTS[part](chosen), criteria.UNSATISFIED: _unsatisfied(chosen)}


def _whole(rows: Rows, service: Service) -> Quantities:
    chosen = service.of(rows)
    found = {f"{name}: {key}": value for name, measure in PARTS.items() for key, value in measure(chosen).items()}
    return {**found, criteria.UNSATISFIED: _unsatisfied(chosen)}


def _unsatisfied(rows: Rows) -> float:
    return unsatisfied([*_usual(rows, ONE), *_usual(rows, THREE)])


def _queries(rows: Rows, arm: str) -> Quantities:
    own = where(of_arm(of_service(rows, MODELLED.mean_ms), arm), rate_per_s=40.0)
    by_number = {row.workload["queries"]: [row] for row in own}
    if not {criteria.FEW, criteria.MANY} <= by_number.keys():
        raise KeyError("queries")
    found = {f"{number:,} queries": ms(only(by_number[number]), MEAN) for number in sorted(by_number)}
    return {**found, criteria.UNSATISFIED: unsatisfied(own)}


# ---- claims

_SAYS = {
    "A": ("T_S rises with the rate in both arms.", "mean T_S against the query rate", "both"),
    "B": ("It rises much less with three brokers.", "rise of mean T_S", "federated against non-federated"),
    "C": ("Its deviation grows, and more with one broker.", "standard deviation of T_S at higher rates", ""),
    "D": ("Three brokers are faster under load.", "T_S under increasing load", "federated against non-federated"),
    "E": ("At most 15 % of subscriptions are answered by a cache.", "cap of the cache hit ratio", "federated"),
}  # fmt: skip
_CRITERIA = {
    "A": "Mean T_S rises significantly from 10 to 60 in both arms, and falls significantly between no two rates.",
    "B": "The rise with three / with one is at most 0.5, and its interval is below 1.",
    "C": "SD with one broker at 60 is at least 1.5 times that at 10, and three have a significantly smaller one at 60.",
    "D": "Mean T_S of three − of one is significantly below 0 at 50 and at 60.",
    "E": "(hits − 1) / subscriptions is at most 0.15 at every broker and second of every run.",
}  # fmt: skip
UNITS = {RISE: "ratio", criteria.SD_RATIO: "ratio", HITS: "share", **criteria.UNITS}
"""By the beginnings of the names of quantities; others are in ms."""


def _source(part: str) -> Source:
    _, metric, configuration = _SAYS[part]
    return find("setup" if part == "E" else "e1_1", metric, configuration).source


def _of_part(part: str) -> Claim:
    return Claim(
        part,
        f"{part}: {_SAYS[part][0][:-1]} ({MODELLED.name}).",
        _CRITERIA[part],
        "The same.",
        partial(_part, service=MODELLED, part=part),
        criteria.alone(criteria.A_TO_E[part]),
        WRITTEN,
        "ms",
        SIGNED,
        source=_source(part),
        units=UNITS,
    )


def of_service_time(service: Service) -> Claim:
    """The verdict on Fig. 11 under this assumption."""
    return Claim(
        f"fig-11-{service.id}",
        f"Fig. 11 in order, trend and spread ({service.name}).",
        "A to E of E1.1 hold with this service time.",
        "A, B and E of E1.1 do.",
        partial(_whole, service=service),
        criteria.together(criteria.A_TO_E, criteria.OF_SHAPE),
        WRITTEN,
        "ms",
        SIGNED,
        source=find("e1_1", "mean T_S against the query rate").source,
        units={**UNITS, **{f"{part}: {name}": unit for part in PARTS for name, unit in UNITS.items()}},
    )


def _of_queries(arm: str) -> Claim:
    return Claim(
        f"F-{arm.split()[0]}",
        f"2,000 queries are enough, and 100 are not ({arm}, {MODELLED.name}).",
        "Means of 1,000, 1,500, 2,500 and 3,000 queries are within 10 % of that of 2,000, and the interval at 100 is "
        "at least twice as wide.",
        "The same.",
        partial(_queries, arm=arm),
        criteria.alone(criteria.queries_suffice),
        WRITTEN,
        "ms",
        SIGNED,
        source=find("setup", "other numbers of queries tried").source,
        units=UNITS,
    )


CLAIMS = (
    of_service_time(MODELLED),
    *(_of_part(part) for part in PARTS),
    of_service_time(NONE),
    *(_of_queries(arm) for arm in (ONE, THREE)),
    *(of_service_time(service) for service in OTHERS),
)
"""The verdict on Fig. 11 names its service time; E1.1 has no other."""
