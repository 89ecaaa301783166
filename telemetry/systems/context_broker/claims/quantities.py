"""What each claim looks at in the runs of one seed: ratios of response times and of memory. Pure.

Counterpart: ``criteria`` judges their intervals over seeds. Each raises ``KeyError`` where a run is missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations

from telemetry.systems.context_broker.claims.matrix import (
    DISTRIBUTED,
    FEW,
    FOUR,
    MOST,
    SOME,
    TEN,
    USUAL_S,
    Cells,
    central,
    configs,
    distributed,
    mean,
    ratio,
)

Quantities = Mapping[str, float]

RARE_CONFIGS = tuple(
    row
    for topology in DISTRIBUTED
    for row in configs(
        topology=topology,
        brokers=TEN,
        providers=FEW,
        consumers=SOME,
        update_interval_s=USUAL_S,
        request_interval_s=USUAL_S,
    )
)
"""What ``published-rare.yaml`` runs with the data on one broker alone."""


def growth_of_central(cells: Cells) -> Quantities:
    return {"V3, 1000 providers / 50": central(cells.response, MOST, MOST) / central(cells.response, FEW, MOST)}


def growth_of_distributed(cells: Cells) -> Quantities:
    return {
        f"{topology}, 1000 providers / 50": distributed(cells.response, MOST, MOST, [topology])
        / distributed(cells.response, FEW, MOST, [topology])
        for topology in DISTRIBUTED
    }


def ratios(cells: Cells) -> Quantities:
    return {
        f"V3 / V4, {providers} providers": central(cells.response, providers, MOST)
        / distributed(cells.response, providers, MOST)
        for providers in (FEW, SOME, MOST)
    }


def topologies(cells: Cells) -> Quantities:
    return _pairs({one: mean(cells.response, configs(topology=one, brokers=TEN)) for one in DISTRIBUTED})


def topologies_of_rare(cells: Cells) -> Quantities:
    rows = {row.topology: cells.rare[row.config] for row in RARE_CONFIGS}
    return _pairs(rows)


def _pairs(means: Mapping[str, float]) -> Quantities:
    return {f"{one} / {other}": means[one] / means[other] for one, other in combinations(DISTRIBUTED, 2)}


def memory(cells: Cells) -> Quantities:
    found = {
        f"V3 / V4 whole, {n} and {n}": ratio(central(cells.memory, n, n), distributed(cells.memory, n, n))
        for n in (FEW, MOST)
    }
    if cells.over_idle:
        over = cells.over_idle
        found["V3 / V4 over idle, 1000 and 1000"] = ratio(central(over, MOST, MOST), distributed(over, MOST, MOST))
    return found


def resident_and_table(cells: Cells) -> Quantities:
    found = {
        f"V3 / V4 RSS, {n} and {n}": ratio(central(cells.rss, n, n), distributed(cells.rss, n, n)) for n in (FEW, MOST)
    }
    table = ratio(central(cells.table, MOST, MOST), distributed(cells.table, MOST, MOST))
    return {**found, "V3 / V4 table, 1000 and 1000": table}


def four(cells: Cells) -> Quantities:
    at = {row.consumers: cells.response[row.config] for row in configs(brokers=FOUR)}
    return {f"{consumers} consumers / 50": at[consumers] / at[50] for consumers in (150, 300)}


def intervals(cells: Cells) -> Quantities:
    def over_all(request_interval_s: float) -> float:
        return mean(cells.response, configs(brokers=TEN, request_interval_s=request_interval_s))

    return {"30 s / 1 s": over_all(USUAL_S) / over_all(1.0)}
