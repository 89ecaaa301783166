"""Applications get the same in both arms once all is settled, whatever they have done before."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from overlay.systems.silbops.clients.client import Client
from overlay.systems.silbops.clients.events import Rejected
from tests.silbops.clients.world import World, came
from tests.silbops.drawn import CONTEXTS, NOTIFICATIONS, boxes, filters
from tests.thorough import examples

CLIENTS = 3
NUMBERS = st.integers(0, CLIENTS - 1)
IDS = st.integers(1, 3)
VARIABLES = st.sets(st.sampled_from(["x", "y", "kind"])).map(frozenset)
ACTIONS = st.one_of(
    st.tuples(st.just("set_context"), NUMBERS, CONTEXTS),
    st.tuples(st.just("set_context"), NUMBERS, CONTEXTS),
    st.tuples(st.just("subscribe"), NUMBERS, IDS, filters(2), st.one_of(st.none(), boxes())),
    st.tuples(st.just("advertise"), NUMBERS, IDS, filters(1), VARIABLES),
    st.tuples(st.sampled_from(["unsubscribe", "unadvertise"]), NUMBERS, IDS),
    st.tuples(st.sampled_from(["lose", "settle"]), NUMBERS),
    st.tuples(st.just("attach"), NUMBERS, st.integers(0, 1)),
)


def act(world: World, client: Client, kind: str, fields: Any) -> None:
    now = world.now
    match kind, fields:
        case "set_context", [values]:
            client.set_context(values, now)
        case "subscribe", [id, content, scope]:
            client.subscribe(content, now, scope=scope, id=id)
        case "advertise", [id, content, variables]:
            client.advertise(content, variables, now, id=id)
        case "attach", [broker]:
            world.settle()
            client.attach(world.site(broker), now)
        case "lose", _:
            if len(world.wire_of(client).sent) == 1:
                world.lose(client)
        case "settle", _:
            world.settle()
        case _, [id]:
            getattr(client, kind)(id, now)


def deliveries(actions: Any, notifications: Any, **arm: Any) -> list[Any]:
    world = World(2, **arm)
    clients = [world.add(number % 2) for number in range(CLIENTS)]
    for kind, number, *fields in actions:
        act(world, clients[number], kind, fields)
    world.wait(5)
    for client in clients:
        client.events()
    found: list[Any] = []
    for number, client in enumerate(clients):
        for notification in notifications:
            client.publish(notification, world.now)
            world.settle()
            refused = [one.code for one in client.events() if isinstance(one, Rejected)]
            found += [(number, notification, refused)]
            found += [[(content, ids) for _, content, ids in came(other)] for other in clients]
    return found


@settings(max_examples=examples(60), suppress_health_check=[HealthCheck.data_too_large])
@given(st.lists(ACTIONS, max_size=15), st.lists(NOTIFICATIONS, min_size=1, max_size=2))
def test_both_arms_deliver_the_same_at_rest(actions: Any, notifications: Any) -> None:
    expected = deliveries(actions, notifications)
    assert deliveries(actions, notifications, is_siena=True) == expected
    assert deliveries(actions, notifications, is_siena=True, adds_first=True) == expected
