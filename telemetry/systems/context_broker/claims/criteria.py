"""What the thesis claims of its Table B.1, and when we call it reproduced; written before any run of the matrix. Pure.

The criteria stand in ``CLAIMS``, dated; ``docs/claims.md`` and the page of an experiment's claims are made from them.
What is judged are the collected summaries of the 251 configurations (``matrix`` recognises them): a quantity is
computed once for each seed, and its interval is over seeds, so that nothing is decided by one lucky run. The reductions
are the thesis' own: where its figures 4.3 to 4.6 average over update intervals at a request interval of 30 s, so is
done here (systems.md, section 1.8).

::

    reproduced     the criterion holds for the whole 95 % interval
    shape only     it holds for no part of it, and the published direction for the whole interval
    not            neither holds for any part of it
    inconclusive   the interval has both in it: so few seeds neither show nor refute it

Response times are simulated with service times of our own machine: it is ratios and directions that can be compared
with the thesis' twenty machines, microseconds cannot. Nothing in the simulator was fitted to the table.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from telemetry.statistics.intervals import interval
from telemetry.systems.context_broker.claims import quantities
from telemetry.systems.context_broker.claims.matrix import Cells, Found, by_seed, published_cells
from telemetry.systems.context_broker.claims.quantities import Quantities

WRITTEN = "2026-11-22"
"""When the criteria were; no configuration of the matrix had been simulated by then."""
LATER = (
    "2026-11-22, after the others and before the matrix was run; some runs of one that was broken off existed by then, "
    "and were not looked at"
)

REVISED = "2026-11-23"
"""When *not* was parted from *inconclusive*, and t put on the logarithm: the runs had been looked at by then."""

REPRODUCED, SHAPE_ONLY, NOT, INCONCLUSIVE, UNKNOWN = "reproduced", "shape only", "not", "inconclusive", "not known"

ROUNDING = 1e-9

Shown = bool | None
"""Whether something holds: for the whole interval, for no part of it, or ``None``, for a part."""

Interval = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a claim came out."""

    claim: str
    verdict: str
    figures: Mapping[str, Interval]
    """What it was judged by: intervals over seeds, by name."""
    published: Mapping[str, float]
    """The same quantities of Table B.1, which has one run of each."""


@dataclass(frozen=True)
class Claim:
    """One claim, and how it is judged."""

    name: str
    claim: str
    """In the thesis' sense."""
    criterion: str
    shape: str
    """What is enough for ``shape only``."""
    measure: Callable[[Cells], Quantities]
    """What is looked at, in one seed's runs. Raises ``KeyError`` where a run is missing."""
    judge: Callable[[Mapping[str, Interval]], tuple[Shown, Shown]]
    """Whether the criterion holds, and whether the shape does."""
    written: str = WRITTEN


def evaluate(found: Iterable[Found], rare: Iterable[Found] = ()) -> list[Verdict]:
    """Every claim judged by these runs, ``rare`` those of rare data; ``not known`` where configurations are missing."""
    seeds = by_seed(found, rare)
    return [_verdict(claim, seeds) for claim in CLAIMS]


def _verdict(claim: Claim, seeds: Iterable[Cells]) -> Verdict:
    rows = [row for cells in seeds if (row := _measured(claim, cells))]
    figures = {name: interval([row[name] for row in rows]) for name in (rows[0] if rows else ())}
    is_known = len(rows) > 1 and all(one["n"] == len(rows) for one in figures.values())
    verdict = word(claim, figures) if is_known else UNKNOWN
    return Verdict(claim.name, verdict, figures, _measured(claim, published_cells()) or {})


def _measured(claim: Claim, cells: Cells) -> Quantities | None:
    try:
        return claim.measure(cells)
    except KeyError:
        return None


# ---- how it is judged


def word(claim: Claim, figures: Mapping[str, Interval]) -> str:
    """The verdict that these intervals give, in the claim's order of them."""
    criterion, shape = claim.judge(figures)
    if criterion:
        return REPRODUCED
    if criterion is None or shape is None:
        return INCONCLUSIVE
    return SHAPE_ONLY if shape else NOT


def _all(parts: Iterable[Shown]) -> Shown:
    """Refuted as soon as one is; shown once all are."""
    found = set(parts)
    return False if False in found else None if None in found else True


def _any(parts: Iterable[Shown]) -> Shown:
    found = set(parts)
    return True if True in found else None if None in found else False


def _not(part: Shown) -> Shown:
    return None if part is None else not part


def _at_least(figure: Interval, bound: float) -> Shown:
    return True if figure["low"] >= bound else False if figure["high"] < bound else None


def _above(one: Interval, other: Interval) -> Shown:
    """Whether one is above another, intervals apart; what is equal but for rounding is not."""
    return True if one["low"] > other["high"] else False if one["high"] <= other["low"] * (1 + ROUNDING) else None


def _within(figure: Interval, share: float) -> Shown:
    """Whether a ratio is within ``share`` of 1."""
    low, high = 1 - share, 1 + share
    if figure["low"] >= low and figure["high"] <= high:
        return True
    return False if figure["high"] < low or figure["low"] > high else None


def _grows(figures: Mapping[str, Interval], bound: float, shape: float) -> tuple[Shown, Shown]:
    [figure] = figures.values()
    return _at_least(figure, bound), _at_least(figure, shape)


def _stays(figures: Mapping[str, Interval], share: float, shape: float) -> tuple[Shown, Shown]:
    ratios = figures.values()
    return _all(_within(one, share) for one in ratios), _all(_within(one, shape) for one in ratios)


def _separate(figures: Mapping[str, Interval], share: float) -> tuple[Shown, Shown]:
    """Whether each pair's ratio is further than ``share`` from 1; one pair's is enough for the shape."""
    apart = [_not(_within(figure, share)) for figure in figures.values()]
    return _all(apart), _any(apart)


def _parts(figures: Mapping[str, Interval]) -> tuple[Shown, Shown]:
    few, some, most = figures.values()
    criterion = _all((_above(some, few), _above(most, some), _at_least(most, 3.0)))
    return criterion, _all((_above(most, few), _at_least(most, 1.0)))


def _weighs(figures: Mapping[str, Interval]) -> tuple[Shown, Shown]:
    few, most, over_idle = figures.values()
    shape = _all((_within(few, 0.15), _at_least(over_idle, 1.5)))
    return _all((shape, _at_least(most, 1.5))), shape


def _is_held(figures: Mapping[str, Interval]) -> tuple[Shown, Shown]:
    few, most, table = figures.values()
    shape = _all((_within(few, 0.15), _at_least(table, 1.5)))
    return _all((shape, _at_least(most, 1.5))), shape


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "central-grows",
        "One central broker (V3) answers slower the more providers there are.",
        "Mean response time at 1,000 consumers: 1,000 providers / 50 providers is at least 2.",
        "It is at least 1.15, which is more than a network of brokers may change (below).",
        quantities.growth_of_central,
        partial(_grows, bound=2.0, shape=1.15),
    ),
    Claim(
        "distributed-stays",
        "A network of ten brokers (V4) does not.",
        "The same ratio is from 0.85 to 1.15 on each of the three topologies.",
        "It is from 0.7 to 1.3 on each.",
        quantities.growth_of_distributed,
        partial(_stays, share=0.15, shape=0.3),
    ),
    Claim(
        "distance-grows",
        "How much faster the network is than the central broker grows with providers.",
        "V3 / V4 at 1,000 consumers rises from 50 to 500 to 1,000 providers, intervals apart, to at least 3.",
        "It is above 1 at 1,000 providers, and above that at 50.",
        quantities.ratios,
        _parts,
    ),
    Claim(
        "topologies-alike",
        "Ring, full mesh and the moderate topology do not differ in response time.",
        "The means over all 81 configurations of each topology differ by at most 10 %, pair by pair.",
        "By at most 20 %.",
        quantities.topologies,
        partial(_stays, share=0.1, shape=0.2),
    ),
    Claim(
        "memory",
        "A central broker takes as much memory as one of ten with few clients, and twice as much with many.",
        "V3 / V4 of the whole process is from 0.85 to 1.15 at 50 providers and 50 consumers; at 1,000 and 1,000 it is "
        "at least 1.5, whole and over an idle broker.",
        "At 1,000 and 1,000 it is at least 1.5 over an idle broker only: an interpreter weighs more than a C++ broker.",
        quantities.memory,
        _weighs,
    ),
    Claim(
        "four-stay",
        "A ring of four brokers answers 300 consumers as fast as 50.",
        "Mean response time at 150 and at 300 consumers is from 0.85 to 1.15 of that at 50.",
        "It is from 0.7 to 1.3 of it.",
        quantities.four,
        partial(_stays, share=0.15, shape=0.3),
    ),
    Claim(
        "idle-is-slow",
        "Not claimed, but what explains most of the table: the rarer the requests, the slower each answer.",
        "Mean response time over all configurations of ten brokers: 30 s between requests / 1 s is at least 1.5.",
        "It is at least 1.1.",
        quantities.intervals,
        partial(_grows, bound=1.5, shape=1.1),
    ),
    Claim(
        "memory-by-other-measures",
        "The same of memory (above), by what is resident and by what the table holds.",
        "V3 / V4 of RSS is from 0.85 to 1.15 at 50 providers and 50 consumers; at 1,000 and 1,000 it is at least 1.5, "
        "and so is that of the table's bytes.",
        "All of it but RSS at 1,000 and 1,000: what an interpreter keeps resident may hide the table.",
        quantities.resident_and_table,
        _is_held,
        LATER,
    ),
    Claim(
        "rare-data-separates",
        "Not claimed, but where the likeness of topologies should end: they differ in response time where data are "
        "rare.",
        "With the data on one broker of ten and no replicas (50 providers, 500 consumers, 30 s between updates and "
        "between requests), mean response times of each two topologies differ by more than 10 %, which is what they "
        "may differ by where five brokers have the data (above).",
        "Those of one pair at least do.",
        quantities.topologies_of_rare,
        partial(_separate, share=0.1),
        LATER,
    ),
)


CUT = 0.05
"""Measuring for 180 s instead of 900 changes nothing where the whole interval of the ratio is so near to 1."""


def effect_of_cut(short: Iterable[Found], long: Iterable[Found]) -> dict[int, Interval]:
    """Of the configurations that were also measured for longer: response time long / short, paired by seed."""
    before = {(one.config, one.seed): one.response_us for one in short}
    ratios: dict[int, list[float]] = defaultdict(list)
    for one in long:
        if (one.config, one.seed) in before:
            ratios[one.config].append(one.response_us / before[one.config, one.seed])
    return {config: interval(values) for config, values in sorted(ratios.items())}


def changes_nothing(ratio: Interval) -> Shown:
    """``None`` also where one seed says nothing of it."""
    return None if ratio["low"] is None else _within(ratio, CUT)
