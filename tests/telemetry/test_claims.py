"""What the thesis claims, judged: by made-up runs that agree with it, agree in shape, or do not."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from telemetry.cli.sweep import orders_of
from telemetry.systems.context_broker.claims.criteria import (
    CLAIMS,
    INCONCLUSIVE,
    NOT,
    REPRODUCED,
    SHAPE_ONLY,
    UNKNOWN,
    WRITTEN,
    evaluate,
    word,
)
from telemetry.systems.context_broker.claims.matrix import LONG, PARTS, RARE, SHORT, Found, found_in, place_of
from telemetry.systems.context_broker.claims.page import SPECS, page
from telemetry.systems.context_broker.claims.quantities import RARE_CONFIGS
from telemetry.systems.context_broker.published import Published, table_b1

ROOT = Path(__file__).parents[2]
Response = Callable[[Published], float]


def runs(response: Response, over_idle: Response = lambda row: 1e6, seeds: int = 5) -> Iterator[Found]:
    """The whole matrix, each seed a little slower than the one before."""
    for seed in range(seeds):
        for row in table_b1():
            over = over_idle(row)
            yield Found(row.config, seed, response(row) * (1 + seed / 1000), 2e6 + over, over, 2e6 + over, over)


def rare_runs(*response_us: float, seeds: int = 5) -> Iterator[Found]:
    """The configurations of rare data, at these response times on ring, full mesh and the moderate topology."""
    for seed in range(seeds):
        for row, us in zip(RARE_CONFIGS, response_us, strict=True):
            yield Found(row.config, seed, us * (1 + seed / 1000), 2e6, 0.0)


def verdicts(found: Iterator[Found], rare: Iterator[Found] | None = None) -> dict[str, str]:
    return {verdict.claim: verdict.verdict for verdict in evaluate(found, rare or rare_runs(4000.0, 3000.0, 5000.0))}


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
    assert found["central-grows"] == INCONCLUSIVE


def spread(*central_grows: float) -> str:
    """The verdict on the growth of V3 where each seed has one of these ratios; it should be at least 2, or 1.15."""
    runs_of = (
        Found(row.config, seed, 900.0 * (growth if row.topology == "central" and row.providers == 1000 else 1), 2e6, 0)
        for seed, growth in enumerate(central_grows)
        for row in table_b1()
    )
    return verdicts(runs_of)["central-grows"]


def test_only_what_the_whole_interval_refutes_is_refuted() -> None:
    assert spread(2.4, 2.5, 2.6) == REPRODUCED
    assert spread(1.5, 1.52, 1.54) == SHAPE_ONLY
    assert spread(1.0, 1.01, 1.02) == NOT
    assert spread(1.9, 2.0, 2.1) == INCONCLUSIVE, "at least the shape, and the size is open"
    assert spread(1.1, 1.15, 1.2) == INCONCLUSIVE, "the size is refuted, and the shape is open"
    assert spread(0.5, 1.2, 4.0) == INCONCLUSIVE


def test_rare_data_as_they_were_measured_are_open_and_not_refuted() -> None:
    """Ratios 0.63 to 1.02 and their like were called "not", as if topologies had been shown to be alike."""
    found = [
        Found(row.config, seed, us * wide, 2e6, 0.0)
        for seed, wide_by in enumerate((0.8, 0.9, 1.0, 1.1, 1.25))
        for row, us, wide in zip(RARE_CONFIGS, (3900.0, 3700.0, 4700.0), (wide_by, 1.0, 1.0), strict=True)
    ]
    assert verdicts(runs(as_published), iter(found))["rare-data-separates"] == INCONCLUSIVE


def test_claims_of_missing_runs_are_not_known_and_the_others_are_judged() -> None:
    found = verdicts(one for one in runs(as_published) if one.config < 244)
    assert found["topologies-alike"] == REPRODUCED
    assert found["central-grows"] == found["four-stay"] == UNKNOWN


def test_one_seed_is_not_enough() -> None:
    rare = rare_runs(4000.0, 3000.0, 5000.0, seeds=1)
    assert set(verdicts(runs(as_published, seeds=1), rare).values()) == {UNKNOWN}


def test_rare_data_separates_all_topologies_or_some_or_none() -> None:
    def judged(*response_us: float) -> str:
        return verdicts(runs(as_published), rare_runs(*response_us))["rare-data-separates"]

    assert judged(4000.0, 3000.0, 5000.0) == REPRODUCED
    assert judged(4000.0, 3000.0, 4100.0) == SHAPE_ONLY
    assert judged(4000.0, 4100.0, 3900.0) == NOT
    assert {one.claim: one.verdict for one in evaluate(runs(as_published))}["rare-data-separates"] == UNKNOWN


def test_memory_is_judged_by_what_is_resident_and_by_the_table_too() -> None:
    def judged(rss: Response, table: Response) -> str:
        found = (
            replace(one, rss_bytes=rss(row), table_bytes=table(row))
            for one in runs(as_published, memory_as_published)
            for row in table_b1()
            if row.config == one.config
        )
        return verdicts(found)["memory-by-other-measures"]

    def heavy(row: Published) -> float:
        return 2e6 + memory_as_published(row)

    assert judged(heavy, memory_as_published) == REPRODUCED
    assert judged(lambda row: 16e6 + memory_as_published(row) / 10, memory_as_published) == SHAPE_ONLY
    assert judged(heavy, lambda row: 1e3) == NOT
    assert judged(lambda row: 0.0, memory_as_published) == UNKNOWN, "without a model of memory nothing is said"


def test_the_table_itself_stands_beside_each_claim() -> None:
    published = {verdict.claim: dict(verdict.published) for verdict in evaluate([])}
    assert published["distance-grows"]["V3 / V4, 1000 providers"] == pytest.approx(7.6, abs=0.05)
    assert published["memory"]["V3 / V4 whole, 1000 and 1000"] == pytest.approx(2.1, abs=0.1)
    assert published["four-stay"] == {"150 consumers / 50": 880 / 840, "300 consumers / 50": 830 / 840}


def configurations(part: str) -> list[dict[str, Any]]:
    return [{**order.configuration, "seed": order.seed} for order in orders_of(ROOT / SPECS[part])]


def test_a_collected_run_is_recognised_by_what_it_ran() -> None:
    memory = {"pss_bytes": 3e6, "over_idle_bytes": 1e6, "rss_bytes": 9e6, "table_bytes": None}
    summary = {"mean_us": 321.0, "memory": {"mean": memory}}
    manifest = {**next(one for one in configurations(SHORT) if place_of(one).config == 251), "seed": 7}
    assert found_in(summary, manifest) == (SHORT, Found(251, 7, 321.0, 3e6, 1e6, 9e6, 0.0))
    assert found_in({**summary, "mean_us": None}, manifest) is None
    renamed = {**manifest, "topology": {**manifest["topology"], "name": "Mine", "id": "17"}}
    assert place_of(renamed) == place_of(manifest)


def test_what_differs_in_anything_is_not_of_the_matrix() -> None:
    usual = configurations(SHORT)[0]
    assert place_of(usual) is not None

    def changed(part: str, **values: Any) -> dict[str, Any]:
        return {**usual, part: {**usual[part], **values}}

    links = usual["topology"]["links"]
    for other in (
        changed("workload", providers=60),
        changed("workload", duration_s=60),
        changed("workload", stagger_ms=200),
        changed("workload", holders=3),
        changed("workload", popularity="zipf"),
        changed("settings", table="indexed"),
        changed("settings", replication="none"),
        changed("simulation", service_times="none"),
        changed("topology", links=[{**links[0], "delay_ms": 5.0}, *links[1:]]),
        {**usual, "faults": [{"what": "kill", "brokers": [1], "at_s": 0}]},
        {**usual, "record_mb": 8},
    ):
        assert place_of(other) is None


def test_the_matrix_is_every_configuration_of_the_table_under_five_seeds() -> None:
    places = {part: [(place_of(one), one["seed"]) for one in configurations(part)] for part in PARTS}
    assert {place.part for place, _ in places[SHORT]} == {SHORT}
    assert len(places[SHORT]) == len(set(places[SHORT])) == 1255
    assert {place.config for place, _ in places[SHORT]} == {row.config for row in table_b1()}
    assert {place.part for place, _ in places[LONG]} == {LONG}
    assert len(set(places[LONG])) == 45
    assert {place.part for place, _ in places[RARE]} == {RARE}
    assert {place.config for place, _ in places[RARE]} == {row.config for row in RARE_CONFIGS}
    seeds = {seed for _, seed in places[SHORT]}
    assert {seed for _, seed in places[LONG]} == {seed for _, seed in places[RARE]} == seeds


def test_a_longer_run_that_tells_the_same_shows_that_the_cut_changes_nothing() -> None:
    short = list(runs(as_published))
    same = [one for one in runs(as_published) if one.config in (5, 251)]
    slower = [replace(one, response_us=1.2 * one.response_us) if one.config == 251 else one for one in same]
    text = page(short, same, [], datetime(2026, 11, 22), "simulated")
    assert text.count("| nothing |") == 2 and "**something**" not in text
    assert "**something**" in page(short, slower, [], datetime(2026, 11, 22), "simulated")
    both = [replace(one, response_us=one.response_us * (0.8 + 0.1 * one.seed)) for one in same]
    assert page(short, both, [], datetime(2026, 11, 22), "simulated").count("| inconclusive |") == 2


def test_the_page_says_the_criteria_before_anything_was_run() -> None:
    text = page([], [], [], datetime(2026, 11, 22), "simulated")
    assert "Nothing has been judged yet" in text
    for claim in CLAIMS:
        assert claim.criterion in text
        assert claim.shape in text
        assert claim.written == WRITTEN or claim.written in text


def test_the_page_says_of_each_claim_what_its_own_intervals_say() -> None:
    """Whatever made it: a word that the printed numbers do not bear is found."""
    text = (ROOT / "docs" / "claims.md").read_text(encoding="utf-8")
    head, *sections = text.split("\n## ")
    for claim, section in zip(CLAIMS, sections, strict=False):
        rows = re.findall(r"^\| (.+?) \| ([\d.]+) \(([\d.]+)–([\d.]+); n = \d+\)", section, re.MULTILINE)
        figures = {
            name: {"value": float(value), "low": float(low), "high": float(high)} for name, value, low, high in rows
        }
        expected = word(claim, figures)
        assert section.startswith(f"{claim.claim}\n")
        assert f"Verdict: **{expected}**" in section
        assert f"| {claim.claim} | **{expected}** |" in head
