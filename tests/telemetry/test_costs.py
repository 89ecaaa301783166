"""Hops and messages: the same figures for a walk, a flood and the structured arm, out of what brokers count."""

import pytest

from overlay.core.node import SECOND
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.costs import costs
from overlay.systems.context_broker.workload import Workload
from overlay.topologies import generate
from telemetry.summary import processes
from telemetry.systems.context_broker.lab.overlay import Overlay

ONE_HOLDER = Workload(
    providers=1, consumers=8, holders=1, update_interval_s=60, request_interval_s=1, duration_s=10, stagger_ms=10,
    assignment="random",
)  # fmt: skip
LINE = generate("line", 5, {"delay_ms": 1})


def costs_of(config):
    """Of the workload on a line of five, and the mean distance from its consumers' brokers to the holder."""
    overlay = Overlay(LINE, config, seed=4, monitoring=False)
    overlay.start()
    before = [overlay.broker(i).statistics(overlay.simulator.now) for i in range(5)]
    tally = overlay.add_clients(ONE_HOLDER)
    overlay.run_for(25 * SECOND)
    after = [overlay.broker(i).statistics(overlay.simulator.now) for i in range(5)]
    grown = [{name: now[name] - then[name] for name in now} for then, now in zip(before, after, strict=True)]
    asked = [sample for sample in overlay.samples() if sample.role == "consumer"]
    holder = next(sample.broker for sample in overlay.samples() if sample.role == "provider")
    assert tally.counters["not_found"] == 0
    distance = sum(abs(sample.broker - holder) for sample in asked) / len(asked)
    return costs(processes.summed(grown), len(asked)), distance


def test_a_walk_that_turns_back_costs_at_least_its_way_and_comes_as_far_as_the_data_are():
    cost, distance = costs_of(BrokerConfig(walk_policy="backtrack", replication_index=0))
    assert cost["hops"] == pytest.approx(distance)
    assert cost["messages_per_query"] > cost["hops"]
    assert cost["datagrams_per_query"] == pytest.approx(2 * cost["messages_per_query"])  # each is answered once
    assert cost["messages_per_update"] == 0


def test_a_flood_costs_every_link_and_comes_as_far():
    cost, distance = costs_of(BrokerConfig(search="flood", flood_ttl=5, replication_index=0))
    assert cost["hops"] == pytest.approx(distance)
    assert cost["hops"] < cost["messages_per_query"] <= 4


def test_lookaheads_are_messages_too():
    cost, distance = costs_of(BrokerConfig(search="lookahead", walk_policy="backtrack", replication_index=0))
    assert cost["hops"] == pytest.approx(distance)
    assert cost["messages_per_query"] > distance


def test_the_structured_arm_s_questions_are_messages_and_its_rounds_are_hops():
    counters = {"hits": 10, "hit_hops": 0, "forwards": 270, "dht_lookups": 90, "dht_rounds": 180, "dht_messages": 370}
    counters |= {"in_2": 20, "out_28": 270, "out_26": 60, "out_30": 40, "out_22": 5, "in_4": 0}
    cost = costs(counters, 100)
    assert (cost["hops"], cost["messages_per_query"], cost["messages_per_update"]) == (1.8, 2.7, 5.0)
    assert cost["datagrams_per_query"] == 3.75


def test_what_nobody_counted_is_not_zero():
    assert set(costs({}, 100).values()) == {None}
    assert set(costs({"hits": 0, "hit_hops": 0, "forwards": 0, "out_3": 0, "in_2": 0}, 0).values()) == {None}
