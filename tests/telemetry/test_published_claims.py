"""What the thesis claims of Table B.1, judged: by made-up runs that agree with it, agree in shape, or do not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import pytest

from overlay.systems.context_broker.profiles import PROFILES
from telemetry.studies.criteria import INCONCLUSIVE, NOT, REPRODUCED, SHAPE_ONLY, UNKNOWN
from telemetry.studies.judging import Result, judge, verdicts
from telemetry.studies.study import PAPER, Row
from telemetry.systems.context_broker.published import Published, table_b1
from telemetry.systems.registry import studies

Response = Callable[[Published], float]
FACTORS = ("providers", "consumers", "update_interval_s", "request_interval_s")
ANCHORS = (77, 251)
"""Measured for longer once more."""


def as_published(row: Published) -> float:
    """V3 grows as printed; V4 has a microsecond a provider at most; the rarer the requests the slower."""
    if row.topology == "central":
        return {50: 1650.0, 500: 4491.0, 1000: 7030.0}[row.providers] + row.consumers / 2 - 500
    return (400.0 if row.request_interval_s == 1 else 900.0) + row.providers / 100


def memory_as_published(row: Published) -> float:
    """Bytes over an idle broker: of a kB for each entry, on one broker or on five of ten."""
    return row.providers * (1000.0 if row.topology == "central" else 100.0) * (3 if row.providers == 1000 else 1)


def row_of(row: Published, seed: int, us: float, over: float, duration_s: float = 180.0) -> Row:
    memory = {"pss": 2e6 + over, "over_idle": over, "rss": 2e6 + over, "table": over}
    workload = {**{name: getattr(row, name) for name in FACTORS}, "duration_s": duration_s}
    measures = {"mean": us, **memory}
    return Row(row.topology, row.brokers, PROFILES["prototype"], workload, measures, seed, f"{row.config} {duration_s}")


def runs(
    response: Response, over_idle: Response = memory_as_published, seeds: Sequence[float] = (1.0, 1.001, 1.002)
) -> list[Row]:
    """The whole table, and the anchors for longer; each seed a little slower than the one before."""
    return [
        row_of(row, seed, response(row) * slower, over_idle(row), duration_s)
        for seed, slower in enumerate(seeds)
        for row in table_b1()
        for duration_s in ((180.0, 900.0) if row.config in ANCHORS else (180.0,))
    ]


def judged(rows: Sequence[Row], study: str = "E0.1", configurations: int = 253) -> Result:
    return judge(studies()[study], PAPER, rows, configurations)


def words(rows: Sequence[Row]) -> dict[str, str]:
    return verdicts(judged(rows))


def test_runs_like_the_table_reproduce_every_claim() -> None:
    assert set(words(runs(as_published)).values()) == {REPRODUCED}


def test_growth_that_is_there_and_smaller_is_the_shape_only() -> None:
    def milder(row: Published) -> float:
        return 950.0 + row.providers / 2 if row.topology == "central" else as_published(row)

    found = words(runs(milder))
    assert found["central-grows"] == found["distance-grows"] == SHAPE_ONLY


def test_an_indexed_table_reproduces_none_of_the_growth() -> None:
    found = words(runs(lambda row: 500.0))
    assert found["central-grows"] == found["distance-grows"] == found["idle-is-slow"] == NOT
    assert found["distributed-stays"] == found["topologies-alike"] == REPRODUCED


def test_one_slow_topology_is_noticed() -> None:
    found = words(runs(lambda row: as_published(row) * (1.5 if row.topology == "waxman" else 1)))
    assert found["topologies-alike"] == NOT


def test_a_network_that_slows_down_with_providers_is_noticed() -> None:
    assert words(runs(lambda row: 500.0 + row.providers))["distributed-stays"] == NOT


def spread(*growths: float) -> str:
    """The verdict on the growth of V3 where each seed has one of these ratios; it should be at least 2, or 1.15."""

    def grown(seed: int) -> Response:
        return lambda row: 900.0 * (growths[seed] if row.topology == "central" and row.providers == 1000 else 1)

    rows = [
        one for seed in range(len(growths)) for one in runs(grown(seed), seeds=[1.0] * (seed + 1)) if one.seed == seed
    ]
    return words(rows)["central-grows"]


@pytest.mark.parametrize(
    ("growths", "verdict"),
    [
        ((2.4, 2.5, 2.6), REPRODUCED),
        ((1.5, 1.52, 1.54), SHAPE_ONLY),
        ((1.0, 1.01, 1.02), NOT),
        ((1.9, 2.0, 2.1), INCONCLUSIVE),  # at least the shape, and the size is open
        ((1.1, 1.15, 1.2), INCONCLUSIVE),  # the size is refuted, and the shape is open
        ((0.5, 1.2, 4.0), INCONCLUSIVE),
        ((5.0, 1.0, 1.0, 1.0, 1.0), INCONCLUSIVE),
    ],
)
def test_only_what_the_whole_interval_refutes_is_refuted(growths: tuple[float, ...], verdict: str) -> None:
    assert spread(*growths) == verdict


def rare_rows(
    *response_us: float, seeds: Sequence[Sequence[float]] = ((1, 1, 1), (1.001, 1.001, 1.001))
) -> Iterator[Row]:
    """The configurations of rare data, at these response times on ring, full mesh and the moderate topology."""
    for seed, wide in enumerate(seeds):
        for topology, us, by in zip(("ring", "full-mesh", "waxman"), response_us, wide, strict=True):
            settings, workload = {"walk_policy": "uniform"}, {"consumers": 500, "holders": 1}
            yield Row(topology, 10, settings, workload, {"mean": us * by}, seed, topology)


def rare(rows: Iterator[Row]) -> str:
    return verdicts(judged(list(rows), "E0.4", 3))["rare-data-separates"]


def test_rare_data_separates_all_topologies_or_some_or_none() -> None:
    assert rare(rare_rows(4000.0, 3000.0, 5000.0)) == REPRODUCED
    assert rare(rare_rows(4000.0, 3000.0, 4100.0)) == SHAPE_ONLY
    assert rare(rare_rows(4000.0, 4100.0, 3900.0)) == NOT
    assert rare(iter(())) == UNKNOWN


def test_rare_data_as_they_were_measured_are_open_and_not_refuted() -> None:
    """Ratios from 0.63 to 1.02 were judged "not", as if topologies had been shown to be equal."""
    wide = [(by, 1.0, 1.0) for by in (0.8, 0.9, 1.0, 1.1, 1.25)]
    assert rare(rare_rows(3900.0, 3700.0, 4700.0, seeds=wide)) == INCONCLUSIVE


def test_a_seed_that_lacks_a_run_does_not_count_and_one_seed_is_not_enough() -> None:
    whole = runs(as_published)
    assert judged(whole[:-1]).seeds == 2
    assert set(words([one for one in whole if one.seed == 0]).values()) == {UNKNOWN}


def test_memory_is_judged_by_what_is_resident_and_by_the_table_too() -> None:
    def word(rss: Callable[[float], float], table: Callable[[float], float]) -> str:
        rows = [
            replace(one, measures={**one.measures, "rss": rss(over), "table": table(over)})
            for one in runs(as_published)
            for over in [one.measures["over_idle"]]
        ]
        return words(rows)["memory-by-other-measures"]

    def whole(over: float) -> float:
        return 2e6 + over

    assert word(whole, float) == REPRODUCED
    assert word(lambda over: 16e6 + over / 10, float) == SHAPE_ONLY
    assert word(whole, lambda over: 1e3) == NOT
    assert word(lambda over: 0.0, float) == UNKNOWN, "without a model of memory nothing is said"


def test_a_longer_run_that_tells_another_shows_that_the_cut_changes_something() -> None:
    slower = [
        replace(one, measures={**one.measures, "mean": 1.2 * one.measures["mean"]})
        if one.workload["duration_s"] == 900
        else one
        for one in runs(as_published)
    ]
    assert words(slower)["cut-changes-nothing"] == NOT


def published(study: str) -> dict[str, float | None]:
    result = judged([], study)
    values = [value for one in result.judged for value in one.values]
    values += [value for drawn in result.drawn for value in drawn.values.values()]
    return {value.id: value.published for value in values}


def test_the_table_itself_stands_next_to_each_value() -> None:
    table = published("E0.1")
    assert table["distance-grows/v3-v4-1000-providers"] == pytest.approx(7.6, abs=0.05)
    assert table["memory/v3-v4-whole-1000-and-1000"] == pytest.approx(2.1, abs=0.1)
    assert published("4.7")["response/v4/50"] == 840
    assert published("4.7")["four-stay/300-consumers-50"] == 830 / 840
    assert published("4.3")["response-by-consumers/central/50"] == 1421.74
    assert published("4.6")["memory-by-providers/central/1000"] == 5715.83
    assert published("4.4")["response-by-providers/ring/1000"] == pytest.approx(925, abs=1)
    assert published("E0.3").get("response/v3/50") is None, "the thesis has no central broker with one provider"
