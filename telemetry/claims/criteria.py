"""What the thesis claims of its Table B.1, and when we call it reproduced; written before any run of the matrix. Pure.

The criteria stand in ``CLAIMS``, dated; ``docs/claims.md`` is made from them. What is judged are the collected
summaries of the 251 configurations: a quantity is computed once for each seed, and its interval is over seeds, so that
nothing is decided by one lucky run. The reductions are the thesis' own: where its figures 4.3 to 4.6 average over
update intervals at a request interval of 30 s, so is done here (systems.md, section 1.8).

::

    reproduced   the criterion holds for the whole 95 % interval
    shape only   the effect has the published direction, with an interval that says so, and not the published size
    not          neither

Response times are simulated with service times of our own machine: it is ratios and directions that can be compared
with the thesis' twenty machines, microseconds cannot. Nothing in the simulator was fitted to the table.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from statistics import fmean
from typing import Any

from telemetry.intervals import interval
from telemetry.published import Published, table_b1

WRITTEN = "2026-11-22"
"""When the criteria were; no configuration of the matrix had been simulated by then."""

REPRODUCED, SHAPE_ONLY, NOT, UNKNOWN = "reproduced", "shape only", "not", "not known"

DISTRIBUTED = ("ring", "full-mesh", "waxman")
FEW, MOST = 50, 1000
FOUR = 4
"""Brokers of the small ring."""
USUAL_S = 30.0
"""The request interval of the thesis' figures."""


@dataclass(frozen=True, slots=True)
class Found:
    """One collected run of a configuration of the table."""

    config: int
    """Its number in Table B.1."""
    seed: int
    response_us: float
    """Mean response time, from the intended sending."""
    memory_bytes: float
    """Of a broker, whole; in simulated runs the modelled PSS."""
    over_idle_bytes: float
    """Of that, what is beyond an idle broker's."""


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


Quantities = Mapping[str, float]


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
    judge: Callable[[Mapping[str, Interval]], str]


class Cells:
    """The values of one seed, or of the table itself, by configuration."""

    def __init__(self, response: Mapping[int, float], memory: Mapping[int, float], over_idle: Mapping[int, float]):
        self.response = response
        self.memory = memory
        self.over_idle = over_idle


def evaluate(found: Iterable[Found]) -> list[Verdict]:
    """Every claim judged by these runs. Where configurations are missing it is ``not known``."""
    by_seed: dict[int, list[Found]] = defaultdict(list)
    for one in found:
        by_seed[one.seed].append(one)
    seeds = [_cells(runs) for _, runs in sorted(by_seed.items())]
    return [_verdict(claim, seeds) for claim in CLAIMS]


def _verdict(claim: Claim, seeds: Iterable[Cells]) -> Verdict:
    rows = [row for cells in seeds if (row := _measured(claim, cells))]
    figures = {name: interval([row[name] for row in rows], is_signed=True) for name in (rows[0] if rows else ())}
    is_known = len(rows) > 1 and all(one["n"] == len(rows) for one in figures.values())
    verdict = claim.judge(figures) if is_known else UNKNOWN
    return Verdict(claim.name, verdict, figures, _measured(claim, published_cells()) or {})


def _measured(claim: Claim, cells: Cells) -> Quantities | None:
    try:
        return claim.measure(cells)
    except KeyError:
        return None


def _cells(runs: Iterable[Found]) -> Cells:
    kept = list(runs)
    return Cells(
        {one.config: one.response_us for one in kept},
        {one.config: one.memory_bytes for one in kept},
        {one.config: one.over_idle_bytes for one in kept},
    )


def published_cells() -> Cells:
    """Table B.1 itself. It says nothing of what is beyond an idle broker, nor of the memory of four."""
    kept = [row for row in table_b1() if row.is_whole or row.brokers == FOUR]
    return Cells(
        {row.config: row.response_us for row in kept if row.response_us is not None},
        {row.config: row.memory_kb * 1000 for row in kept if row.memory_kb is not None},
        {},
    )


# ---- which configurations


def configs(**wanted: Any) -> list[Published]:
    """Rows of the table whose fields are these."""
    return [row for row in table_b1() if all(getattr(row, name) == value for name, value in wanted.items())]


def central(values: Mapping[int, float], providers: int, consumers: int) -> float:
    """V3 at these numbers of clients."""
    [row] = configs(topology="central", providers=providers, consumers=consumers)
    return values[row.config]


def distributed(
    values: Mapping[int, float], providers: int, consumers: int, topologies: Collection[str] = DISTRIBUTED
) -> float:
    """V4 at these: the mean over topologies and update intervals, at the usual request interval.

    A row that the scan damaged is left out of the table's own mean.
    """
    rows = [
        row
        for topology in topologies
        for row in configs(
            topology=topology, brokers=10, providers=providers, consumers=consumers, request_interval_s=USUAL_S
        )
    ]
    return _mean(values, rows)


def _mean(values: Mapping[int, float], rows: Iterable[Published]) -> float:
    """Over rows that have a value; where a whole row lacks one, it is missing."""
    known = []
    for row in rows:
        if row.config in values:
            known.append(values[row.config])
        elif row.is_whole:
            raise KeyError(row.config)
    return fmean(known)


def _ratio(one: float, other: float) -> float:
    """Of nothing there is no ratio: a model without memory says nothing of it."""
    if not other:
        raise KeyError("nothing")
    return one / other


# ---- what is looked at


def _growth_of_central(cells: Cells) -> Quantities:
    return {"V3, 1000 providers / 50": central(cells.response, MOST, MOST) / central(cells.response, FEW, MOST)}


def _growth_of_distributed(cells: Cells) -> Quantities:
    return {
        f"{topology}, 1000 providers / 50": distributed(cells.response, MOST, MOST, [topology])
        / distributed(cells.response, FEW, MOST, [topology])
        for topology in DISTRIBUTED
    }


def _ratios(cells: Cells) -> Quantities:
    return {
        f"V3 / V4, {providers} providers": central(cells.response, providers, MOST)
        / distributed(cells.response, providers, MOST)
        for providers in (FEW, 500, MOST)
    }


def _topologies(cells: Cells) -> Quantities:
    means = {topology: _mean(cells.response, configs(topology=topology, brokers=10)) for topology in DISTRIBUTED}
    return {f"{one} / {other}": means[one] / means[other] for one, other in combinations(DISTRIBUTED, 2)}


def _memory(cells: Cells) -> Quantities:
    found = {
        f"V3 / V4 whole, {n} and {n}": _ratio(central(cells.memory, n, n), distributed(cells.memory, n, n))
        for n in (FEW, MOST)
    }
    if cells.over_idle:
        over = cells.over_idle
        found["V3 / V4 over idle, 1000 and 1000"] = _ratio(central(over, MOST, MOST), distributed(over, MOST, MOST))
    return found


def _four(cells: Cells) -> Quantities:
    at = {row.consumers: cells.response[row.config] for row in configs(brokers=FOUR)}
    return {f"{consumers} consumers / 50": at[consumers] / at[50] for consumers in (150, 300)}


def _intervals(cells: Cells) -> Quantities:
    def mean(request_interval_s: float) -> float:
        return _mean(cells.response, configs(brokers=10, request_interval_s=request_interval_s))

    return {"30 s / 1 s": mean(30.0) / mean(1.0)}


# ---- how it is judged


def _at_least(figure: Interval, bound: float) -> bool:
    return bool(figure["low"] >= bound)


def _within(figure: Interval, share: float) -> bool:
    """Whether the whole interval of a ratio is within ``share`` of 1."""
    return bool(figure["low"] >= 1 - share and figure["high"] <= 1 + share)


def _grows(figures: Mapping[str, Interval], bound: float, shape: float) -> str:
    [figure] = figures.values()
    if _at_least(figure, bound):
        return REPRODUCED
    return SHAPE_ONLY if _at_least(figure, shape) else NOT


def _stays(figures: Mapping[str, Interval], share: float, shape: float) -> str:
    if all(_within(figure, share) for figure in figures.values()):
        return REPRODUCED
    return SHAPE_ONLY if all(_within(figure, shape) for figure in figures.values()) else NOT


def _parts(figures: Mapping[str, Interval]) -> str:
    few, some, most = figures.values()
    is_rising = few["high"] < some["low"] and some["high"] < most["low"]
    if is_rising and _at_least(most, 3.0):
        return REPRODUCED
    return SHAPE_ONLY if few["high"] < most["low"] and _at_least(most, 1.0) else NOT


def _weighs(figures: Mapping[str, Interval]) -> str:
    few, most, over_idle = figures.values()
    if _within(few, 0.15) and _at_least(over_idle, 1.5) and _at_least(most, 1.5):
        return REPRODUCED
    return SHAPE_ONLY if _within(few, 0.15) and _at_least(over_idle, 1.5) else NOT


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "central-grows",
        "One central broker (V3) answers slower the more providers there are.",
        "Mean response time at 1,000 consumers: 1,000 providers / 50 providers is at least 2.",
        "It is at least 1.15, which is more than a network of brokers may change (below).",
        _growth_of_central,
        partial(_grows, bound=2.0, shape=1.15),
    ),
    Claim(
        "distributed-stays",
        "A network of ten brokers (V4) does not.",
        "The same ratio is from 0.85 to 1.15 on each of the three topologies.",
        "It is from 0.7 to 1.3 on each.",
        _growth_of_distributed,
        partial(_stays, share=0.15, shape=0.3),
    ),
    Claim(
        "distance-grows",
        "How much faster the network is than the central broker grows with providers.",
        "V3 / V4 at 1,000 consumers rises from 50 to 500 to 1,000 providers, intervals apart, to at least 3.",
        "It is above 1 at 1,000 providers, and above that at 50.",
        _ratios,
        _parts,
    ),
    Claim(
        "topologies-alike",
        "Ring, full mesh and the moderate topology do not differ in response time.",
        "The means over all 81 configurations of each topology differ by at most 10 %, pair by pair.",
        "By at most 20 %.",
        _topologies,
        partial(_stays, share=0.1, shape=0.2),
    ),
    Claim(
        "memory",
        "A central broker takes as much memory as one of ten with few clients, and twice as much with many.",
        "V3 / V4 of the whole process is from 0.85 to 1.15 at 50 providers and 50 consumers; at 1,000 and 1,000 it is "
        "at least 1.5, whole and over an idle broker.",
        "At 1,000 and 1,000 it is at least 1.5 over an idle broker only: an interpreter weighs more than a C++ broker.",
        _memory,
        _weighs,
    ),
    Claim(
        "four-stay",
        "A ring of four brokers answers 300 consumers as fast as 50.",
        "Mean response time at 150 and at 300 consumers is from 0.85 to 1.15 of that at 50.",
        "It is from 0.7 to 1.3 of it.",
        _four,
        partial(_stays, share=0.15, shape=0.3),
    ),
    Claim(
        "idle-is-slow",
        "Not claimed, but what explains most of the table: the rarer the requests, the slower each answer.",
        "Mean response time over all configurations of ten brokers: 30 s between requests / 1 s is at least 1.5.",
        "It is at least 1.1.",
        _intervals,
        partial(_grows, bound=1.5, shape=1.1),
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


def changes_nothing(ratio: Interval) -> bool | None:
    """``None`` where one seed says nothing of it."""
    return None if ratio["low"] is None else _within(ratio, CUT)


def found_in(summary: Mapping[str, Any], manifest: Mapping[str, Any]) -> Iterator[Found]:
    """What a collected run of the matrix says; nothing where it is of no configuration of the table."""
    topology, workload = manifest["topology"], manifest["workload"]
    memory = summary["memory"]["mean"]
    if summary["mean_us"] is None:  # nothing was answered
        return
    for row in configs(
        topology=topology["kind"],
        brokers=topology["brokers"],
        **{name: workload[name] for name in ("providers", "consumers", "update_interval_s", "request_interval_s")},
    ):
        yield Found(
            row.config,
            manifest["seed"],
            summary["mean_us"],
            memory["pss_bytes"] or 0.0,
            memory["over_idle_bytes"] or 0.0,
        )
