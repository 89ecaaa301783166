"""What the thesis claims, judged: by made-up runs that agree with it, agree in shape, or do not."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from telemetry.claims.criteria import CLAIMS, NOT, REPRODUCED, SHAPE_ONLY, UNKNOWN, Found, evaluate, found_in
from telemetry.claims.page import SPEC, page
from telemetry.published import Published, table_b1
from telemetry.sweep.command import orders_of

ROOT = Path(__file__).parents[2]
Response = Callable[[Published], float]


def runs(response: Response, over_idle: Response = lambda row: 1e6, seeds: int = 5) -> Iterator[Found]:
    """The whole matrix, each seed a little slower than the one before."""
    for seed in range(seeds):
        for row in table_b1():
            over = over_idle(row)
            yield Found(row.config, seed, response(row) * (1 + seed / 1000), 2e6 + over, over)


def verdicts(found: Iterator[Found]) -> dict[str, str]:
    return {verdict.claim: verdict.verdict for verdict in evaluate(found)}


def as_published(row: Published) -> float:
    """V3 grows as printed; V4 has a microsecond a provider at most; the rarer the requests the slower."""
    if row.topology == "central":
        return {50: 1650.0, 500: 4491.0, 1000: 7030.0}[row.providers]
    return (400.0 if row.request_interval_s == 1 else 900.0) + row.providers / 100


def memory_as_published(row: Published) -> float:
    """Bytes over an idle broker: of a kB for each entry, on one broker or on five of ten."""
    return row.providers * (1000.0 if row.topology == "central" else 100.0) * (3 if row.providers == 1000 else 1)


def test_runs_like_the_table_reproduce_every_claim() -> None:
    assert set(verdicts(runs(as_published, memory_as_published)).values()) == {REPRODUCED}


def test_growth_that_is_there_and_smaller_is_the_shape_only() -> None:
    def milder(row: Published) -> float:
        return 950.0 + row.providers / 2 if row.topology == "central" else as_published(row)

    found = verdicts(runs(milder))
    assert found["central-grows"] == found["distance-grows"] == SHAPE_ONLY


def test_an_indexed_table_reproduces_none_of_the_growth() -> None:
    found = verdicts(runs(lambda row: 500.0))
    assert found["central-grows"] == found["distance-grows"] == found["idle-is-slow"] == NOT
    assert found["distributed-stays"] == found["topologies-alike"] == REPRODUCED


def test_one_slow_topology_is_noticed() -> None:
    found = verdicts(runs(lambda row: as_published(row) * (1.5 if row.topology == "waxman" else 1)))
    assert found["topologies-alike"] == NOT


def test_a_network_that_slows_down_with_providers_is_noticed() -> None:
    found = verdicts(runs(lambda row: 500.0 + row.providers))
    assert found["distributed-stays"] == NOT


def test_seeds_that_disagree_decide_nothing() -> None:
    def run(seed: int) -> Iterator[Found]:
        for row in table_b1():
            grown = row.topology == "central" and row.providers == 1000
            yield Found(row.config, seed, 900.0 * (5 if grown and seed == 0 else 1), 2e6, 0.0)

    found = verdicts(one for seed in range(5) for one in run(seed))
    assert found["central-grows"] == NOT


def test_claims_of_missing_runs_are_not_known_and_the_others_are_judged() -> None:
    found = verdicts(one for one in runs(as_published) if one.config < 244)
    assert found["topologies-alike"] == REPRODUCED
    assert found["central-grows"] == found["four-stay"] == UNKNOWN


def test_one_seed_is_not_enough() -> None:
    assert set(verdicts(runs(as_published, seeds=1)).values()) == {UNKNOWN}


def test_the_table_itself_stands_beside_each_claim() -> None:
    published = {verdict.claim: dict(verdict.published) for verdict in evaluate([])}
    assert published["distance-grows"]["V3 / V4, 1000 providers"] == pytest.approx(7.6, abs=0.05)
    assert published["memory"]["V3 / V4 whole, 1000 and 1000"] == pytest.approx(2.1, abs=0.1)
    assert published["four-stay"] == {"150 consumers / 50": 880 / 840, "300 consumers / 50": 830 / 840}


def manifest(**workload: Any) -> dict[str, Any]:
    usual = {"providers": 1000, "consumers": 1000, "update_interval_s": 30, "request_interval_s": 30.0}
    return {"seed": 7, "topology": {"kind": "central", "brokers": 1}, "workload": {**usual, **workload}}


def test_a_collected_run_is_recognised_by_its_configuration() -> None:
    summary = {"mean_us": 321.0, "memory": {"mean": {"pss_bytes": 3e6, "over_idle_bytes": 1e6}}}
    assert list(found_in(summary, manifest())) == [Found(251, 7, 321.0, 3e6, 1e6)]
    assert list(found_in(summary, manifest(providers=60))) == []


def test_the_matrix_is_every_configuration_of_the_table_under_five_seeds() -> None:
    summary = {"mean_us": 1.0, "memory": {"mean": {"pss_bytes": 1.0, "over_idle_bytes": 1.0}}}
    found = [
        one
        for order in orders_of(ROOT / SPEC)
        for one in found_in(summary, {**order.configuration, "seed": order.seed})
    ]
    assert len(found) == len({(one.config, one.seed) for one in found}) == 1255
    assert {one.config for one in found} == {row.config for row in table_b1()}


def test_a_longer_run_that_tells_the_same_shows_that_the_cut_changes_nothing() -> None:
    short = list(runs(as_published))
    same = [one for one in runs(as_published) if one.config in (5, 251)]
    slower = [replace(one, response_us=1.2 * one.response_us) if one.config == 251 else one for one in same]
    text = page(short, same, datetime(2026, 11, 22), "simulated")
    assert text.count("| nothing |") == 2 and "**something**" not in text
    assert "**something**" in page(short, slower, datetime(2026, 11, 22), "simulated")


def test_the_page_says_the_criteria_before_anything_was_run() -> None:
    text = page([], [], datetime(2026, 11, 22), "simulated")
    assert "Nothing has been judged yet" in text
    for claim in CLAIMS:
        assert claim.criterion in text and claim.shape in text
