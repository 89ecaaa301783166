"""Which broker each client gets, by each way of assigning them."""

from collections import Counter
from dataclasses import replace
from math import dist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay.core.chance import Stream
from overlay.core.errors import InvalidSetting
from overlay.load.assignment import ASSIGNMENTS, Nearest, assign_machines
from overlay.systems.context_broker.workload import Workload, plan_clients
from overlay.topologies import KINDS, generate

POSITIONS = generate("waxman", 10, seed=3).positions


def brokers_of(role, plans):
    return [plan.broker for plan in plans if plan.role == role]


def load_of(workload, plans, brokers=10):
    """Messages a second that each broker expects."""
    intervals = {"provider": workload.update_interval_s, "consumer": workload.request_interval_s}
    load = dict.fromkeys(range(brokers), 0.0)
    for plan in plans:
        load[plan.broker] += 1 / intervals[plan.role]
    return load


@given(brokers=st.integers(1, 100), seed=st.integers(0, 2**64 - 1))
def test_machines_keep_the_rule_of_the_thesis_for_any_number_of_brokers(brokers, seed):
    providers, consumers = assign_machines(brokers, Stream(seed))
    groups = min(5, brokers)
    assert len(set(providers)) == len(providers) == groups
    assert len(set(consumers)) == len(consumers) == groups
    assert len(set(providers) & set(consumers)) <= max(2, 2 * groups - brokers)
    assert set(providers + consumers) <= set(range(brokers))


def test_clients_are_spread_evenly_over_five_machines_of_each_kind():
    plans = plan_clients(Workload(providers=50, consumers=1000), brokers=10, seed=1)
    assert sorted(Counter(brokers_of("provider", plans)).values()) == [10] * 5
    assert sorted(Counter(brokers_of("consumer", plans)).values()) == [200] * 5


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
@given(
    brokers=st.integers(1, 10),
    providers=st.integers(0, 40),
    consumers=st.integers(1, 40),
    holders=st.integers(0, 3),
    seed=st.integers(0, 2**32),
)
def test_every_assignment_gives_each_client_a_broker_and_keeps_to_the_holders(
    assignment, brokers, providers, consumers, holders, seed
):
    holders = min(holders, brokers)
    workload = Workload(providers=providers, consumers=consumers, holders=holders, assignment=assignment)
    plans = plan_clients(workload, brokers, seed, POSITIONS[:brokers])
    assert plans == plan_clients(workload, brokers, seed, POSITIONS[:brokers])
    assert len(plans) == providers + consumers
    assert {plan.broker for plan in plans} <= set(range(brokers))
    assert len(set(brokers_of("provider", plans))) <= (holders or brokers)


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_rare_data_sit_on_as_many_brokers_as_there_are_holders(assignment):
    workload = Workload(providers=60, holders=2, assignment=assignment)
    assert len(set(brokers_of("provider", plan_clients(workload, 10, 5, POSITIONS)))) == 2


@pytest.mark.parametrize(("assignment", "most"), [(name, 5 if name == "machines" else 10) for name in ASSIGNMENTS])
def test_more_holders_than_brokers_is_refused_by_name(assignment, most):
    with pytest.raises(InvalidSetting, match=rf"holders.*at most {most} brokers"):
        plan_clients(Workload(holders=11, assignment=assignment), 10, 0, POSITIONS)


def test_in_turn_no_broker_gets_two_clients_more_than_another_and_consumers_go_on_where_providers_ended():
    workload = Workload(providers=5, consumers=5, entities=5, assignment="round-robin")
    plans = plan_clients(workload, 10, 4)
    assert sorted(plan.broker for plan in plans) == list(range(10))
    counts = Counter(plan.broker for plan in plan_clients(Workload(assignment="round-robin"), 7, 4))
    assert max(counts.values()) - min(counts.values()) <= 1


@given(st.floats(0.01, 100), st.floats(0.01, 100), st.integers(0, 60), st.integers(1, 60), st.integers(0, 2**32))
def test_least_loaded_leaves_no_broker_more_than_one_client_ahead(
    update_interval_s, request_interval_s, providers, consumers, seed
):
    workload = Workload(
        providers=providers,
        consumers=consumers,
        update_interval_s=update_interval_s,
        request_interval_s=request_interval_s,
        assignment="least-loaded",
    )
    load = load_of(workload, plan_clients(workload, 10, seed)).values()
    largest = max(1 / update_interval_s if providers else 0, 1 / request_interval_s)
    assert max(load) - min(load) <= largest * (1 + 1e-6)


def test_least_loaded_sends_consumers_where_providers_are_not():
    workload = Workload(providers=20, consumers=160, update_interval_s=1, request_interval_s=2, holders=2)
    load = load_of(workload, plan_clients(replace(workload, assignment="least-loaded"), 10, 1))
    assert set(load.values()) == {10.0}


def test_clients_go_to_the_nearest_broker_so_that_its_share_is_that_of_its_surroundings():
    positions = [(0.0, 0.5), (0.5, 0.5), (1.0, 0.5)]
    workload = Workload(providers=0, consumers=4000, assignment="nearest")
    counts = Counter(plan.broker for plan in plan_clients(workload, 3, 9, positions))
    assert [counts[i] / 4000 for i in range(3)] == pytest.approx([0.25, 0.5, 0.25], abs=0.03)


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=30),
    st.tuples(st.floats(0, 1), st.floats(0, 1)),
)
def test_the_nearest_is_what_comparing_with_all_finds(positions, place):
    broker = Nearest(range(len(positions)), positions).to(place, Stream(1))
    assert dist(positions[broker], place) == min(dist(position, place) for position in positions)


def test_brokers_at_one_position_share_the_clients_there():
    workload = Workload(providers=0, consumers=400, assignment="nearest")
    counts = Counter(plan.broker for plan in plan_clients(workload, 2, 1, [(0.5, 0.5), (0.5, 0.5)]))
    assert min(counts.values()) > 150


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "custom"])
def test_every_generated_topology_says_where_its_brokers_are(kind):
    graph = generate(kind, 1 if kind == "central" else 10, seed=2)
    assert len(plan_clients(Workload(assignment="nearest"), graph.brokers, 1, graph.positions)) == 100


def test_nearest_without_positions_is_refused_by_name():
    with pytest.raises(InvalidSetting, match="assignment: nearest needs the brokers' positions"):
        plan_clients(Workload(assignment="nearest"), 10, 0)
