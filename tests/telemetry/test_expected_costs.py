"""What a simulated run is expected to cost: in proportion to what its brokers and clients will say to each other."""

from __future__ import annotations

from typing import Any

import pytest

from overlay.experiment.inline import simulated
from telemetry.sweep.costs import exchanges, pace

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


def test_the_pace_is_that_of_the_median_run():
    known: list[Any] = [(1_000.0, 1.0), (9_000.0, 1.0), (2_000.0, 1.0), (5.0, 0.0)]
    assert pace(known) == 2_000.0
    assert pace([]) is None
