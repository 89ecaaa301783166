"""What a run is expected to cost: in proportion to what its brokers and clients will say to each other."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from brokerweb.storage.files import weigh
from overlay.experiment.inline import simulated
from telemetry.sweep import costs
from telemetry.sweep.costs import exchanges, slowness
from telemetry.sweep.simulation import Order, Places, simulate_run

BODY = """
name: e
topology: {{kind: ring, brokers: {brokers}}}
settings: {settings}
workload: {{providers: {providers}, holders: {holders}, assignment: random, consumers: 50,
   request_interval_s: 2, duration_s: 60}}
"""


def expected(
    settings: str = "{replication: none}", brokers: int = 100, providers: int = 1, holders: int = 1, spec: str = BODY
) -> float:
    text = spec.format(brokers=brokers, settings=settings, providers=providers, holders=holders)
    _, (configuration,) = simulated(text.encode(), "spec.yaml")
    return exchanges(configuration)


def test_rare_data_cost_a_search_for_each_request():
    common, rare = expected(providers=100, holders=100), expected()
    assert rare > common


def test_replicas_spare_searches():
    assert expected("{replication: random}") < expected() / 2


def test_a_walk_that_may_turn_on_the_spot_takes_more_steps():
    assert expected("{replication: none, walk_policy: uniform}") > 1.5 * expected()


def test_a_walk_ends_where_its_hops_do():
    assert expected("{replication: none, walk_ttl: 8}") < expected() / 3


@pytest.mark.parametrize("settings", ["{search: flood, replication: none}", "{arm: structured}", "{profile: design}"])
def test_every_way_to_look_has_a_cost(settings: str):
    assert expected(settings) > expected(settings, brokers=10)


def test_how_much_longer_runs_take_is_said_by_the_median_run():
    known: list[Any] = [(1.0, 1.0), (1.0, 9.0), (2.0, 4.0), (5.0, 0.0)]
    assert slowness(known) == 2.0
    assert slowness([]) is None


SHAPE = """
topology: {topology}
settings: {settings}
workload: {{providers: 10, consumers: 20, update_interval_s: 5, request_interval_s: 1, stagger_ms: 20, {workload}}}
simulation: {{service_times: none}}
record_mb: {record_mb}
"""
RING, WAXMAN = "{kind: ring, brokers: 10}", "{kind: waxman, brokers: 30, params: {mean_degree: 4}}"
RARE = "{replication: none, walk_policy: backtrack}"


@pytest.mark.parametrize(
    ("topology", "settings", "workload", "record_mb"),
    [
        pytest.param(RING, "{}", "duration_s: 20", 0, id="small"),
        pytest.param(RING, "{}", "duration_s: 20", 64, id="recorded, far less than it may"),
        pytest.param(RING, "{}", "duration_s: 20, payload_bytes: 10000", 64, id="large payloads"),
        pytest.param(RING, "{}", "duration_s: 60, payload_bytes: 10000", 1, id="recorded up to its limit"),
        pytest.param("{kind: ring, brokers: 100}", "{}", "duration_s: 10", 0, id="many brokers"),
        pytest.param(WAXMAN, RARE, "duration_s: 10, entities: 10", 64, id="walks"),
        pytest.param(RING, RARE, "duration_s: 20, entities: 10", 64, id="walks around a ring"),
        pytest.param(WAXMAN, "{replication: none, search: flood}", "duration_s: 5, entities: 10", 64, id="floods"),
        pytest.param(WAXMAN, "{}", "duration_s: 20, entities: 10, assignment: random", 64, id="replicas"),
        pytest.param(RING, "{arm: structured}", "duration_s: 10, entities: 10", 64, id="structured"),
    ],
)
def test_a_run_leaves_on_the_disk_what_was_said_within_a_factor_of_two(
    tmp_path: Path, topology: str, settings: str, workload: str, record_mb: int
) -> None:
    text = SHAPE.format(topology=topology, settings=settings, workload=workload, record_mb=record_mb)
    _, (configuration,) = simulated(text.encode(), "spec.yaml")
    places = Places(tmp_path / "runs", tmp_path / "lake", tmp_path / "var")
    result = simulate_run(Order("r", configuration, seed=5), places, datetime.now(UTC))
    left = sum(map(weigh, (places.runs, places.lake, places.kept)))
    assert left / 2 < costs.disk_bytes(configuration) < left * 2
    assert result.took_s > 0


def test_a_recording_takes_time_too_and_a_limit_that_is_not_reached_takes_nothing() -> None:
    def of(record_mb: int) -> dict[str, Any]:
        text = SHAPE.format(topology=RING, settings="{}", workload="duration_s: 20", record_mb=record_mb)
        return simulated(text.encode(), "spec.yaml")[1][0]

    assert costs.seconds(of(64)) > costs.seconds(of(0))
    assert costs.disk_bytes(of(1_000)) == costs.disk_bytes(of(64)) < 64_000_000
