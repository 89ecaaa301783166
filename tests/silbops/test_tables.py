"""Tables of brokers in trees: whoever is owed a notification gets it (seed 002, spec sections 7 and 9)."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from overlay.systems.silbops.content.filters import EVERYTHING, Filter, read_filter
from overlay.systems.silbops.content.values import Values
from overlay.systems.silbops.index import INDEXES
from overlay.systems.silbops.scope.text import parse
from tests.silbops.drawn import CONTEXTS, filters, trees
from tests.silbops.tree import Client, Network
from tests.thorough import examples

SQUARE = parse("this.x-20 <= pub.x <= this.x+20")
XY = frozenset({"x", "y"})
CHAIN = ((0, 1), (1, 2))
FIRE = read_filter([["kind", "=", "fire"]])


def chain(**options: Any) -> tuple[Network, Client, Client]:
    """Three brokers, a camera at the first and a vehicle at the last."""
    network = Network(CHAIN, 3, Random(1), **options)
    return network, network.attach(0), network.attach(2)


def rows(network: Network) -> list[int]:
    network.settle()
    return [tables.rows() for tables in network.tables]


def test_a_vehicle_sees_what_is_in_its_square_and_moves_without_subscribing_again() -> None:
    network, camera, vehicle = chain()
    network.advertise(camera, 1, EVERYTHING, XY)
    network.set_context(vehicle, {"x": 100})
    network.subscribe(vehicle, 1, FIRE, SQUARE)
    network.set_context(camera, {"x": 110})
    assert rows(network) == [1, 1, 1]
    assert network.publish(camera, {"kind": "fire"}) == {"1": (vehicle.key(1),)}
    network.set_context(vehicle, {"x": 150})
    network.settle()
    assert network.publish(camera, {"kind": "fire"}) == {}
    assert network.publish(camera, {"kind": "flood"}) == {}


def test_a_subscription_stays_where_nobody_has_advertised_what_it_needs() -> None:
    network, camera, vehicle = chain()
    network.set_context(vehicle, {"x": 100})
    network.subscribe(vehicle, 1, FIRE, SQUARE)
    assert rows(network) == [0, 0, 1]
    network.advertise(camera, 1, EVERYTHING, frozenset({"y"}))
    assert rows(network) == [0, 0, 1], "it needs x"
    network.advertise(camera, 2, FIRE, frozenset({"x"}))
    assert rows(network) == [1, 1, 1], "a late advertisement calls stored rows"
    assert [len(tables.contexts) for tables in network.tables] == [1, 1, 1]
    network.unadvertise(camera, 2)
    assert rows(network) == [0, 0, 1]
    assert [len(tables.contexts) for tables in network.tables] == [0, 0, 1], "its context is forgotten with it"


def test_the_advertisements_of_one_publisher_count_together() -> None:
    network, camera, vehicle = chain()
    both = parse("pub.x > 0 and pub.y > 0")
    network.advertise(camera, 1, FIRE, frozenset({"x"}))
    network.set_context(vehicle, {})
    network.subscribe(vehicle, 1, EVERYTHING, both)
    assert rows(network) == [0, 0, 1]
    network.advertise(camera, 2, EVERYTHING, frozenset({"y"}))
    assert rows(network) == [1, 1, 1]


def test_a_broader_subscription_goes_instead_of_what_it_covers_and_they_come_back_with_it_gone() -> None:
    network, camera, vehicle = chain()
    network.advertise(camera, 1, EVERYTHING, frozenset())
    hot = read_filter([["kind", "=", "fire"], ["level", ">", 5]])
    other = network.attach(2)
    network.subscribe(vehicle, 1, hot, None)
    network.subscribe(other, 1, FIRE, None)
    network.subscribe(other, 2, FIRE, None)
    assert rows(network) == [1, 1, 3]
    network.unsubscribe(other, 1)
    assert rows(network) == [1, 1, 2]
    network.unsubscribe(other, 2)
    assert rows(network) == [1, 1, 1]
    assert network.publish(camera, {"kind": "fire", "level": 6}) == {"1": (vehicle.key(1),)}
    network.leave(vehicle)
    assert rows(network) == [0, 0, 0]


def test_without_covering_every_subscription_goes() -> None:
    network, camera, vehicle = chain(is_covering=False)
    network.advertise(camera, 1, EVERYTHING, frozenset())
    network.subscribe(vehicle, 1, FIRE, None)
    network.subscribe(vehicle, 2, FIRE, None)
    assert rows(network) == [2, 2, 2]


def test_contexts_are_apart_so_functions_of_different_owners_do_not_cover_each_other() -> None:
    network, camera, vehicle = chain()
    network.advertise(camera, 1, EVERYTHING, XY)
    other = network.attach(2)
    for client in (vehicle, other):
        network.set_context(client, {"x": 1})
        network.subscribe(client, 1, FIRE, SQUARE)
        network.subscribe(client, 2, FIRE, SQUARE)
    assert rows(network) == [2, 2, 4]
    network.subscribe(other, 3, EVERYTHING, None)
    assert rows(network) == [1, 1, 5], "one without a function covers all"
    assert [len(tables.contexts) for tables in network.tables] == [0, 0, 2]


def test_a_lost_link_takes_its_rows_and_a_mended_one_brings_them_back() -> None:
    network, camera, vehicle = chain()
    network.advertise(camera, 1, EVERYTHING, XY)
    network.set_context(vehicle, {"x": 1})
    network.subscribe(vehicle, 1, FIRE, SQUARE)
    network.settle()
    network.cut(1, 2)
    assert rows(network) == [0, 0, 1]
    network.mend(1, 2)
    assert rows(network) == [1, 1, 1]


# ---- random stories

NUMBERS = st.integers(0, 3)
ACTIONS = st.one_of(
    st.tuples(st.just("subscribe"), NUMBERS, NUMBERS, filters(2), st.one_of(st.none(), trees(), st.just(SQUARE))),
    st.tuples(st.just("advertise"), NUMBERS, NUMBERS, filters(1), st.sets(st.sampled_from(["x", "y", "kind"]))),
    st.tuples(st.just("set_context"), NUMBERS, CONTEXTS),
    st.tuples(st.sampled_from(["unsubscribe", "unadvertise"]), NUMBERS, NUMBERS),
    st.tuples(st.sampled_from(["cut", "mend"]), NUMBERS),
    st.tuples(st.just("step"), st.integers(1, 5)),
)
TREES: list[tuple[tuple[int, int], ...]] = [
    ((0, 1),),
    CHAIN,
    ((0, 1), (0, 2), (0, 3)),
    ((0, 1), (1, 2), (1, 3), (3, 4)),
]
SETTINGS = st.fixed_dictionaries(
    {
        "is_covering": st.booleans(),
        "index": st.sampled_from(list(INDEXES.values())),
        "scope_batch": st.sampled_from([0, 1, 2, 48]),
    }
)
"""None of them changes who gets what; ``scope_batch``: functions one by one, or together."""
NOTIFICATIONS = st.lists(
    st.dictionaries(st.sampled_from(["a", "b"]), st.sampled_from([0, 1, 2, "a", "ab"]), min_size=1),
    min_size=1,
    max_size=3,
)


@settings(max_examples=examples(100), suppress_health_check=[HealthCheck.data_too_large])
@given(st.sampled_from(TREES), st.integers(0, 9), SETTINGS, st.lists(ACTIONS, max_size=25), NOTIFICATIONS)
def test_at_rest_everyone_gets_what_is_due(
    links: Any, seed: int, settings: dict[str, Any], actions: Any, notifications: list[Values]
) -> None:
    network = Network(links, len(links) + 1, Random(seed), **settings)
    clients = [network.attach(number % len(network.tables)) for number in range(4)]
    down: set[Any] = set()
    for kind, *fields in actions:
        act(network, clients, links, down, kind, fields)
    for link in sorted(down):
        network.mend(*link)
    network.settle()
    for client in clients:
        for content in notifications:
            found = network.publish(client, content)
            assert found is None or found == network.due(client, content)
    for client in clients:
        network.leave(client)
    network.settle()
    assert [tables.rows() for tables in network.tables] == [0] * len(network.tables)
    assert [len(tables.contexts) for tables in network.tables] == [0] * len(network.tables)


def act(network: Network, clients: list[Client], links: Any, down: set[Any], kind: str, fields: list[Any]) -> None:
    match kind, fields:
        case "step", [number]:
            for _ in range(number):
                network.step()
        case "cut" | "mend", [number]:
            link = links[number % len(links)]
            if (link in down) == (kind == "mend"):
                (down.remove if kind == "mend" else down.add)(link)
                getattr(network, kind)(*link)
        case "advertise", [number, own, content, variables]:
            network.advertise(clients[number], own, content, frozenset(variables))
        case _, [number, *others]:
            getattr(network, kind)(clients[number], *others)


@pytest.mark.parametrize("is_covering", [True, False])
def test_equal_stories_end_in_equal_tables(is_covering: bool) -> None:
    ends = []
    for _ in range(2):
        network = Network(CHAIN, 3, Random(7), is_covering=is_covering)
        content: Filter = FIRE
        for broker in range(3):
            client = network.attach(broker)
            network.advertise(client, 1, EVERYTHING, XY)
            network.set_context(client, {"x": broker})
            network.subscribe(client, 1, content, SQUARE)
        network.settle()
        ends.append([(tables.rows(), tables.rows_forwarded(), len(tables.contexts)) for tables in network.tables])
    assert ends[0] == ends[1]
