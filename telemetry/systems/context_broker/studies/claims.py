"""The claims of Table B.1. The criteria are of 2026-11-22, before any configuration was run, but where it is said.

That *not* was parted from *inconclusive*, and that a ratio's interval is Student's t on the logarithm, is of
2026-11-23, after runs had been looked at; no bound was moved. Response times are simulated with service times of one
calibrated machine: it is ratios and directions that can be compared with the thesis' twenty machines, microseconds
cannot. Nothing in the simulator was fitted to the table.
"""

from __future__ import annotations

from telemetry.studies.criteria import Intervals, Shown, above, all_of, are_at_least, are_within, at_least, within
from telemetry.studies.study import Claim, Quantities, Row, Rows, Source, mean, where
from telemetry.systems.context_broker.studies.table import (
    DISTRIBUTED,
    FEW,
    FOUR,
    MEMORY,
    MOST,
    RESPONSE,
    SOME,
    TABLE,
    TEN,
    USUAL_S,
    WRITTEN,
    central,
    distributed,
    pairs,
    ratio,
    short,
)

LATER = f"{WRITTEN}, after the others and before the matrix was run"


def _growth_of_central(rows: Rows) -> Quantities:
    return {"V3, 1000 providers / 50": central(rows, RESPONSE, MOST, MOST) / central(rows, RESPONSE, FEW, MOST)}


def _growth_with_consumers(rows: Rows) -> Quantities:
    return {"V3, 1000 consumers / 50": central(rows, RESPONSE, FEW, MOST) / central(rows, RESPONSE, FEW, FEW)}


def _growth_of_distributed(rows: Rows) -> Quantities:
    return {
        f"{one}, 1000 providers / 50": distributed(rows, RESPONSE, MOST, MOST, [one])
        / distributed(rows, RESPONSE, FEW, MOST, [one])
        for one in DISTRIBUTED
    }


def _ratios(rows: Rows) -> Quantities:
    return {
        f"V3 / V4, {n} providers": central(rows, RESPONSE, n, MOST) / distributed(rows, RESPONSE, n, MOST)
        for n in (FEW, SOME, MOST)
    }


def _ratios_by_consumers(rows: Rows) -> Quantities:
    return {
        f"V3 / V4, {n} consumers": central(rows, RESPONSE, FEW, n) / distributed(rows, RESPONSE, FEW, n)
        for n in (FEW, SOME, MOST)
    }


def _topologies(rows: Rows) -> Quantities:
    return pairs({one: mean(where(short(rows), topology=one, brokers=TEN), RESPONSE) for one in DISTRIBUTED})


def _memory(rows: Rows) -> Quantities:
    found = {
        f"V3 / V4 whole, {n} and {n}": ratio(central(rows, MEMORY, n, n), distributed(rows, MEMORY, n, n))
        for n in (FEW, MOST)
    }
    if any("over_idle" in row.measures for row in rows):
        over = [of(rows, "over_idle", MOST, MOST) for of in (central, distributed)]
        found["V3 / V4 over idle, 1000 and 1000"] = ratio(*over)
    return found


def _memory_by_consumers(rows: Rows) -> Quantities:
    return {
        f"V3 / V4, {n} consumers": ratio(central(rows, MEMORY, FEW, n), distributed(rows, MEMORY, FEW, n))
        for n in (FEW, SOME, MOST)
    }


def _memory_by_providers(rows: Rows) -> Quantities:
    return {
        f"V3 / V4, {n} providers": ratio(central(rows, MEMORY, n, MOST), distributed(rows, MEMORY, n, MOST))
        for n in (FEW, SOME, MOST)
    }


def _resident_and_table(rows: Rows) -> Quantities:
    found = {
        f"V3 / V4 RSS, {n} and {n}": ratio(central(rows, "rss", n, n), distributed(rows, "rss", n, n))
        for n in (FEW, MOST)
    }
    table = ratio(central(rows, "table", MOST, MOST), distributed(rows, "table", MOST, MOST))
    return {**found, "V3 / V4 table, 1000 and 1000": table}


def _four(rows: Rows) -> Quantities:
    ring = where(short(rows), topology="ring", brokers=FOUR)
    at = {
        n: mean(where([row for row in ring if row.settings.get("arm") != "structured"], consumers=n), RESPONSE)
        for n in (50, 150, 300)
    }
    return {f"{n} consumers / 50": at[n] / at[50] for n in (150, 300)}


def _intervals(rows: Rows) -> Quantities:
    """Of the configurations that were run at both intervals: at the paper's scale all of ten brokers."""
    usual = where(short(rows), brokers=TEN)
    rare, often = (
        {_without_interval(row): row.measures[RESPONSE] for row in where(usual, request_interval_s=seconds)}
        for seconds in (USUAL_S, 1.0)
    )
    both = rare.keys() & often.keys()
    if not both:
        raise KeyError("both intervals")
    return {"30 s / 1 s": sum(rare[one] for one in both) / sum(often[one] for one in both)}


def _without_interval(row: Row) -> tuple[object, ...]:
    return (row.topology, *(row.workload[name] for name in ("providers", "consumers", "update_interval_s")))


def _cut(rows: Rows) -> Quantities:
    longest = max(row.workload["duration_s"] for row in rows)
    anchors = where(rows, duration_s=longest)
    if len(anchors) == len(rows):  # the published ones, of one length
        raise KeyError("two lengths")
    found = {}
    for row in anchors:
        same = {name: row.get(name) for name in ("topology", "brokers", "providers", "consumers")}
        usual = {name: row.get(name) for name in ("update_interval_s", "request_interval_s")}
        name = f"{row.topology}, {same['providers']} and {same['consumers']}"
        found[name] = row.measures[RESPONSE] / mean(where(short(rows), **same, **usual), RESPONSE)
    return found


def _parts(figures: Intervals) -> tuple[Shown, Shown]:
    few, some, most = figures.values()
    criterion = all_of((above(some, few), above(most, some), at_least(most, 3.0)))
    return criterion, all_of((above(most, few), at_least(most, 1.0)))


def _is_faster(figures: Intervals) -> tuple[Shown, Shown]:
    few, _, most = figures.values()
    every = all_of(at_least(one, 1.15) for one in figures.values())
    return all_of((every, above(most, few))), at_least(most, 1.0)


def _weighs(figures: Intervals) -> tuple[Shown, Shown]:
    few, most, over_idle = figures.values()
    shape = all_of((within(few, 0.15), at_least(over_idle, 1.5)))
    return all_of((shape, at_least(most, 1.5))), shape


def _starts_alike(figures: Intervals) -> tuple[Shown, Shown]:
    few, _, most = figures.values()
    return all_of((within(few, 0.15), at_least(most, 1.5))), all_of((within(few, 0.15), above(most, few)))


CENTRAL_GROWS = Claim(
    "central-grows",
    "One central broker (V3) answers slower the more providers there are.",
    "Mean response time at 1,000 consumers: 1,000 providers / 50 providers is at least 2.",
    "It is at least 1.15, which is more than a network of brokers may change.",
    _growth_of_central,
    are_at_least(2.0, 1.15),
    WRITTEN,
    source=TABLE,
)
DISTRIBUTED_STAYS = Claim(
    "distributed-stays",
    "A network of ten brokers (V4) does not answer slower the more providers there are.",
    "Mean response time at 1,000 consumers: 1,000 providers / 50 is from 0.85 to 1.15 on each of the three topologies.",
    "It is from 0.7 to 1.3 on each.",
    _growth_of_distributed,
    are_within(0.15, 0.3),
    WRITTEN,
    source=TABLE,
)
DISTANCE_GROWS = Claim(
    "distance-grows",
    "How much faster the network is than the central broker grows with providers.",
    "V3 / V4 at 1,000 consumers rises from 50 to 500 to 1,000 providers, intervals apart, to at least 3.",
    "It is above 1 at 1,000 providers, and above that at 50.",
    _ratios,
    _parts,
    WRITTEN,
    source=TABLE,
)
TOPOLOGIES_ALIKE = Claim(
    "topologies-alike",
    "Ring, full mesh and the moderate topology do not differ in response time.",
    "The means over all configurations of each topology that are run (81 at the paper's scale) differ by at most 10 %, "
    "pair by pair.",
    "By at most 20 %.",
    _topologies,
    are_within(0.1, 0.2),
    WRITTEN,
    source=TABLE,
)
MEMORY_GROWS = Claim(
    "memory",
    "A central broker takes as much memory as one of ten with few clients, and twice as much with many.",
    "V3 / V4 of the whole process is from 0.85 to 1.15 at 50 providers and 50 consumers; at 1,000 and 1,000 it is "
    "at least 1.5, whole and over an idle broker.",
    "At 1,000 and 1,000 it is at least 1.5 over an idle broker only: an interpreter weighs more than a C++ broker.",
    _memory,
    _weighs,
    WRITTEN,
    source=TABLE,
)
FOUR_STAY = Claim(
    "four-stay",
    "A ring of four brokers answers 300 consumers as fast as 50.",
    "Mean response time at 150 and at 300 consumers is from 0.85 to 1.15 of that at 50.",
    "It is from 0.7 to 1.3 of it.",
    _four,
    are_within(0.15, 0.3),
    WRITTEN,
    source=TABLE,
)
IDLE_IS_SLOW = Claim(
    "idle-is-slow",
    "Not claimed, but what explains most of the table: the rarer the requests, the slower each answer.",
    "Mean response time over the configurations of ten brokers that are run at both intervals: 30 s between requests / "
    "1 s is at least 1.5.",
    "It is at least 1.1.",
    _intervals,
    are_at_least(1.5, 1.1),
    WRITTEN,
    source=TABLE,
)
OTHER_MEMORY = Claim(
    "memory-by-other-measures",
    "The same of memory, by what is resident and by what the table holds.",
    "V3 / V4 of RSS is from 0.85 to 1.15 at 50 providers and 50 consumers; at 1,000 and 1,000 it is at least 1.5, "
    "and so is that of the table's bytes.",
    "All of it but RSS at 1,000 and 1,000: what an interpreter keeps resident may hide the table.",
    _resident_and_table,
    _weighs,
    LATER,
)
CUT = Claim(
    "cut-changes-nothing",
    "That less than 15 minutes are measured changes nothing.",
    "Mean response time of the longest measurement / the shortest, paired by seed, is from 0.95 to 1.05 in each "
    "configuration that is measured for both.",
    "It is from 0.9 to 1.1.",
    _cut,
    are_within(0.05, 0.1),
    "2026-11-22; the shape is of 2026-11-25",
)
CONSUMERS_CENTRAL = Claim(
    "central-grows-with-consumers",
    "One central broker (V3) answers slower the more consumers there are.",
    "Mean response time at 50 providers: 1,000 consumers / 50 is at least 1.1.",
    "It is at least 1.02.",
    _growth_with_consumers,
    are_at_least(1.1, 1.02),
    "2026-11-25, after runs of these configurations had been looked at for other claims",
    source=TABLE,
)
FASTER_BY_CONSUMERS = Claim(
    "network-is-faster",
    "The network (V4) answers faster than the central broker (V3) at every number of consumers, and the more so the "
    "more there are.",
    "V3 / V4 at 50 providers is at least 1.15 at 50, 500 and 1,000 consumers, and higher at 1,000 than at 50, "
    "intervals apart.",
    "It is above 1 at 1,000 consumers.",
    _ratios_by_consumers,
    _is_faster,
    "2026-11-25, after runs of these configurations had been looked at for other claims",
    source=TABLE,
)
MEMORY_BY_CONSUMERS = Claim(
    "memory-by-consumers",
    "With few providers a central broker takes about as much memory as one of ten, whatever the number of consumers.",
    "V3 / V4 of the whole process at 50 providers is from 0.85 to 1.15 at 50, 500 and 1,000 consumers.",
    "It is from 0.7 to 1.3.",
    _memory_by_consumers,
    are_within(0.15, 0.3),
    "2026-11-25, after runs of these configurations had been looked at for other claims",
    source=TABLE,
)
MEMORY_BY_PROVIDERS = Claim(
    "memory-by-providers",
    "With many consumers a central broker takes as much memory as one of ten at 50 providers, and twice as much at "
    "1,000.",
    "V3 / V4 of the whole process at 1,000 consumers is from 0.85 to 1.15 at 50 providers and at least 1.5 at 1,000.",
    "The first holds, and it is higher at 1,000 providers than at 50, intervals apart.",
    _memory_by_providers,
    _starts_alike,
    "2026-11-25, after runs of these configurations had been looked at for other claims",
    source=Source(
        "Table B.1 and section 4.3.2", "802", "V3 can consume 122% more memory than V4 when 1000 CPs are used"
    ),
)
