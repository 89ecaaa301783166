"""The library of SilboPS clients, call by call (seed 002, section 2)."""

from __future__ import annotations

from typing import Any

import pytest

from overlay.systems.silbops.clients.events import (
    Accepted,
    Connected,
    Detached,
    GaveUp,
    Lost,
    Notified,
    Rejected,
    Unanswered,
)
from overlay.systems.silbops.content.filters import EVERYTHING, read_filter, written_filter
from overlay.systems.silbops.scope.text import parse
from overlay.systems.silbops.wire import messages as m
from tests.silbops.clients.world import World, came, names

FIRE = read_filter([["kind", "=", "fire"]])
NEAR = parse("this.x-20 <= pub.x <= this.x+20")
XY = frozenset({"x", "y"})
MANY = frozenset(f"x{number}" for number in range(65))


def settled(world: World, client: Any) -> list[Any]:
    world.settle()
    return list(client.events())


def heard(world: World, place: int = 0) -> list[Any]:
    """What the broker heard of it since the last call."""
    world.settle()
    return world.heard.pop(place, [])


# ---- what is sent


def test_a_subscriber_sends_its_context_and_a_publisher_keeps_it() -> None:
    world = World()
    client = world.add()
    client.set_context({"x": 1}, 0)
    client.advertise(EVERYTHING, XY, 0)
    assert names(heard(world)) == ["Advertise"]
    client.subscribe(FIRE, 0, scope=NEAR)
    assert names(heard(world)) == ["SetCtx", "Subscribe"], "the context precedes what needs it"
    client.set_context({"x": 2}, 0)
    assert [one.values for one in heard(world)] == [{"x": 2}]


def test_a_camera_is_seen_from_within_the_square_in_both_arms() -> None:
    for is_siena in (False, True):
        world = World(2, is_siena=is_siena)
        camera, vehicle = world.add(0), world.add(1)
        camera.set_context({"x": 110, "y": 5, "z": 9}, 0)
        camera.advertise(FIRE, XY, 0)
        subscription = vehicle.subscribe(FIRE, 0, scope=NEAR)
        vehicle.set_context({"x": 100}, 0)
        world.settle()
        number = camera.publish({"kind": "fire"}, 0)
        world.settle()
        assert came(vehicle) == [(number, {"kind": "fire"}, (subscription.id,))]
        vehicle.set_context({"x": 150}, 0)
        world.settle()
        camera.publish({"kind": "fire"}, 0)
        world.settle()
        assert came(vehicle) == []


def test_siena_writes_the_context_into_notifications_and_filters() -> None:
    world = World(is_siena=True)
    client = world.add()
    client.set_context({"x": 1, "z": 2}, 0)
    client.advertise(EVERYTHING, XY, 0)
    client.subscribe(FIRE, 0, scope=NEAR)
    client.publish({"kind": "fire"}, 0)
    advertised, subscribed, published = heard(world)
    assert advertised.variables == frozenset()
    assert written_filter(subscribed.filter) == [["@x", "<=", 21.0], ["@x", ">=", -19.0], ["kind", "=", "fire"]]
    assert (subscribed.scope, published.notification, published.context) == (None, {"kind": "fire", "@x": 1}, {})


@pytest.mark.parametrize(
    ("adds_first", "order"),
    [
        (False, ["Unsubscribe", "Subscribe", "Unsubscribe", "Subscribe"]),
        (True, ["Subscribe", "Subscribe", "Unsubscribe", "Unsubscribe"]),
    ],
)
def test_siena_replaces_each_filter_that_a_change_of_context_changes(adds_first: bool, order: list[str]) -> None:
    world = World(is_siena=True, adds_first=adds_first)
    client = world.add()
    client.set_context({"x": 1}, 0)
    for scope in (NEAR, None, NEAR):
        client.subscribe(FIRE, 0, scope=scope)
    before = [one.id for one in heard(world)]
    call = client.set_context({"x": 2}, 0)
    changes = heard(world)
    assert names(changes) == order
    removed = [one.id for one in changes if isinstance(one, m.Unsubscribe)]
    added = [one.id for one in changes if isinstance(one, m.Subscribe)]
    assert removed == [before[0], before[2]]
    assert not set(added) & set(before), "each replacement has an id of its own"
    assert Accepted(call) in client.events()
    client.set_context({"x": 2, "speed": 5}, 0)
    assert heard(world) == [], "no filter is other"


def test_siena_holds_a_subscription_back_while_a_variable_is_missing() -> None:
    world = World(is_siena=True)
    client = world.add()
    call, id = client.subscribe(FIRE, 0, scope=NEAR)
    assert heard(world) == []
    assert Accepted(call) in client.events()
    client.set_context({"x": 1}, 0)
    assert names(heard(world)) == ["Subscribe"]
    client.set_context({"y": 1}, 0)
    assert names(heard(world)) == ["Unsubscribe"]
    client.unsubscribe(id, 0)
    assert heard(world) == []


def test_a_notification_on_its_way_under_an_old_id_is_mapped_back() -> None:
    world = World(is_siena=True)
    camera, vehicle = world.add(), world.add()
    camera.set_context({"x": 1}, 0)
    camera.advertise(EVERYTHING, XY, 0)
    vehicle.set_context({"x": 1}, 0)
    _, id = vehicle.subscribe(FIRE, 0, scope=NEAR)
    world.settle()
    number = camera.publish({"kind": "fire"}, 0)
    vehicle.set_context({"x": 5}, 0)  # sent before the notification comes
    world.settle()
    assert came(vehicle) == [(number, {"kind": "fire"}, (id,))]


# ---- refusals


def test_calls_are_refused_by_the_library_with_a_reason_and_change_nothing() -> None:
    cases: list[tuple[bool, Any, m.Code, str]] = [
        (False, lambda c: c.publish({"kind": "fire"}, 0), m.Code.NOT_ADVERTISED, "no advertisement"),
        (False, lambda c: c.publish({}, 0), m.Code.MALFORMED, "0 names"),
        (False, lambda c: c.unsubscribe(7, 0), m.Code.UNKNOWN_ID, "no subscription 7"),
        (False, lambda c: c.unadvertise(7, 0), m.Code.UNKNOWN_ID, "no advertisement 7"),
        (False, lambda c: c.set_context({"@x": 1}, 0), m.Code.MALFORMED, "no name"),
        (False, lambda c: c.publish({"a": 1}, 0, scope=parse("this.x > 1")), m.Code.BAD_SCOPE, "publisher_scope"),
        (
            False,
            lambda c: c.advertise(FIRE, XY, 0, subscriber_variables=frozenset({"x"})).call,
            m.Code.BAD_SCOPE,
            "publisher_scope",
        ),
        (False, lambda c: c.subscribe(FIRE, 0, ttl_ms=86_400_001).call, m.Code.LIMIT, "ttl_ms is 0 to 86,400,000"),
        (False, lambda c: c.advertise(FIRE, XY, 0, ttl_ms=-1).call, m.Code.LIMIT, "ttl_ms is 0 to 86,400,000"),
        (False, lambda c: c.subscribe(FIRE, 0, id=-1).call, m.Code.MALFORMED, "is 0 to 2^64 - 1, not -1"),
        (False, lambda c: c.advertise(FIRE, XY, 0, id=1 << 64).call, m.Code.MALFORMED, "is 0 to 2^64 - 1, not 18446"),
        (True, lambda c: c.subscribe(FIRE, 0, id=-1).call, m.Code.MALFORMED, "is 0 to 2^64 - 1, not -1"),
        (False, lambda c: c.advertise(FIRE, frozenset({"a b"}), 0).call, m.Code.MALFORMED, "'a b' is no name"),
        (False, lambda c: c.advertise(FIRE, MANY, 0).call, m.Code.LIMIT, "names 64 variables at most, not 65"),
        (
            True,
            lambda c: c.subscribe(FIRE, 0, scope=parse("dist(pub.x, pub.y, this.x, this.y) < 5")).call,
            m.Code.BAD_SCOPE,
            "siena has no constraints",
        ),
    ]
    for is_siena, act, code, words in cases:
        world = World(is_siena=is_siena)
        client = world.add()
        client.events()
        call = act(client)
        (rejected,) = client.events()
        assert isinstance(rejected, Rejected)
        assert (rejected.call, rejected.code) == (call, code)
        assert words in rejected.words
        assert heard(world) == []


def test_what_the_broker_refuses_is_not_set() -> None:
    world = World()
    client = world.add()
    world.refuse_next = [m.Code.LIMIT]
    call, id = client.subscribe(FIRE, 0)
    assert settled(world, client)[1:] == [Rejected(call, m.Code.LIMIT, "as scripted")]
    again = client.unsubscribe(id, 0)
    assert client.events() == [Rejected(again, m.Code.UNKNOWN_ID, f"there is no subscription {id}")]


def test_a_subscription_whose_replacement_is_refused_goes_on() -> None:
    world = World()
    client = world.add()
    _, id = client.subscribe(FIRE, 0)
    settled(world, client)
    world.refuse_next = [m.Code.TOO_LARGE]
    call, _ = client.subscribe(EVERYTHING, 0, id=id)
    assert settled(world, client) == [Rejected(call, m.Code.TOO_LARGE, "as scripted")]
    heard(world)
    world.lose(client)
    world.forget(client)
    assert settled(world, client)[-1] == Connected("b0", is_resumed=False)
    assert [one.filter for one in heard(world)] == [FIRE]


def test_a_message_that_is_too_large_is_refused() -> None:
    world = World()
    client = world.add()
    client.advertise(EVERYTHING, XY, 0)
    settled(world, client)
    world.too_large = [m.Publish(3, {"kind": "fire"}, {}), m.Unadvertise(4, 1)]
    number = client.publish({"kind": "fire"}, 0)
    (rejected,) = client.events()
    assert rejected == Rejected(number, m.Code.TOO_LARGE, "The message is too large.")


def test_messages_wait_while_the_channel_is_full_and_further_calls_are_refused() -> None:
    world = World(most_waiting=3)
    client = world.add()
    world.room = 1
    calls = [client.subscribe(FIRE, 0).call for _ in range(4)]
    assert not client.has_room
    (rejected,) = [one for one in client.events() if isinstance(one, Rejected)]
    assert (rejected.call, rejected.code) == (calls[3], m.Code.LIMIT)
    assert settled(world, client) == [Accepted(call) for call in calls[:3]]
    assert client.has_room


# ---- lost sessions


def test_after_a_lost_session_what_was_not_answered_is_sent_again() -> None:
    world = World()
    camera, vehicle = world.add(), world.add()
    vehicle.subscribe(FIRE, 0)
    camera.advertise(EVERYTHING, XY, 0)
    world.settle()
    vehicle.events(), camera.events()
    numbers = [camera.publish({"kind": "fire", "n": n}, 0) for n in range(3)]
    call, _ = camera.advertise(FIRE, XY, 0)
    world.lose(camera, but=2)
    assert settled(world, camera) == [Lost("b0", "unreachable"), Connected("b0", True), Accepted(call)]
    assert [number for number, _, _ in came(vehicle)] == numbers, "each once, in order"


def test_a_publication_that_came_twice_is_dropped_once() -> None:
    world = World()
    camera, vehicle = world.add(), world.add()
    vehicle.subscribe(FIRE, 0)
    camera.advertise(EVERYTHING, XY, 0)
    world.settle()
    number = camera.publish({"kind": "fire"}, 0)
    wire = world.wire_of(camera)
    (published,) = wire.sent["b0"]
    world.settle()
    wire.sent["b0"].append(published)
    world.settle()
    assert [one[0] for one in came(vehicle)] == [number]
    assert world.terms.counters["repeats"] == 1


def test_a_broker_that_forgot_is_told_everything() -> None:
    for is_siena in (False, True):
        world = World(is_siena=is_siena)
        client = world.add()
        client.set_context({"x": 1}, 0)
        client.advertise(EVERYTHING, XY, 0)
        client.subscribe(FIRE, 0, scope=NEAR)
        client.subscribe(FIRE, 0)
        gone = client.subscribe(FIRE, 0)
        before = sorted(names(heard(world)))
        world.lose(client)
        world.forget(client)
        call = client.unsubscribe(gone.id, 0)
        assert Accepted(call) in settled(world, client)
        assert sorted([*names(heard(world)), "Subscribe"]) == before
        assert len(world.models[client.id].subscriptions) == 2


def test_only_the_newest_of_several_changes_is_sent_again() -> None:
    world = World()
    client = world.add()
    client.subscribe(FIRE, 0, scope=NEAR)
    world.settle()
    calls = [client.set_context({"x": x}, 0) for x in range(3)]
    world.lose(client)
    world.heard.clear()
    client.events()
    assert [one.values for one in heard(world)] == [{"x": 2}]
    assert [one.call for one in client.events() if isinstance(one, Accepted)] == calls


def test_calls_before_the_first_broker_wait_for_it() -> None:
    world = World()
    client = world.add(None)
    calls = [client.advertise(EVERYTHING, XY, 0).call, client.subscribe(FIRE, 0).call]
    client.publish({"kind": "fire"}, 0)
    client.attach(world.site(0), 0)
    assert settled(world, client) == [Connected("b0", False), *map(Accepted, calls)]
    assert names(heard(world)) == ["Advertise", "Subscribe", "Publish"]


def test_it_tries_for_two_minutes_with_growing_pauses_and_gives_up() -> None:
    world = World()
    client = world.add()
    client.events()
    world.down = {"b0"}
    world.settle()
    call = client.subscribe(FIRE, world.now).call
    world.wait(100)
    assert client.events() == [Lost("b0", "unreachable")]
    world.wait(100)
    assert client.events() == [Unanswered(call), GaveUp("b0")]
    assert client.next_timer() is None
    world.down = set()
    client.attach(world.site(0), world.now)
    assert Connected("b0", True) in settled(world, client)
    assert names(heard(world)) == ["Subscribe"], "what was set is told when there is a broker again"


def test_a_broker_that_answers_nothing_is_left() -> None:
    world = World()
    client = world.add()
    client.events()
    world.is_mute = True
    client.subscribe(FIRE, world.now)
    world.wait(59)
    assert client.events() == []
    world.wait(2)
    assert Lost("b0", "silent") in client.events()


def test_a_broker_that_does_not_know_the_client_is_attached_to_again() -> None:
    world = World()
    client = world.add()
    world.refuse_next = [m.Code.NOT_ATTACHED]
    call, _ = client.subscribe(FIRE, 0)
    world.wait(2)
    assert client.events()[1:] == [Lost("b0", "not_attached"), Connected("b0", True), Accepted(call)]


def test_detach_ends_the_session_and_attach_resumes() -> None:
    world = World()
    client = world.add()
    client.subscribe(FIRE, 0)
    settled(world, client)
    client.detach(0)
    assert settled(world, client) == [Detached("b0")]
    client.attach(world.site(0), 0)
    assert settled(world, client) == [Connected("b0", True)]


# ---- moves


def test_a_client_moves_and_its_calls_follow() -> None:
    for is_siena in (False, True):
        world = World(3, is_siena=is_siena)
        camera, vehicle = world.add(0), world.add(1)
        camera.set_context({"x": 1}, 0)
        camera.advertise(EVERYTHING, XY, 0)
        vehicle.set_context({"x": 1}, 0)
        _, id = vehicle.subscribe(FIRE, 0, scope=NEAR)
        world.settle()
        vehicle.events()
        vehicle.attach(world.site(2), world.now)
        call = vehicle.set_context({"x": 5}, world.now)
        events = settled(world, vehicle)
        assert events == [Connected("b2", True), Accepted(call)]
        number = camera.publish({"kind": "fire"}, world.now)
        world.settle()
        assert came(vehicle) == [(number, {"kind": "fire"}, (id,))]
        assert list(world.wire_of(vehicle).sent) == ["b2"], "the old session is over"


def test_after_a_move_old_ids_are_mapped_back_as_long_as_the_old_broker_may_use_them() -> None:
    world = World(2, is_siena=True)
    vehicle = world.add(0)
    vehicle.set_context({"x": 1}, 0)
    _, id = vehicle.subscribe(FIRE, 0, scope=NEAR)
    (told,) = heard(world)
    vehicle.attach(world.site(1), world.now)
    world.settle()
    vehicle.set_context({"x": 9}, world.now)
    world.settle()
    vehicle.events()

    def late(number: int) -> list[Any]:
        notify = m.Notify(5, number, {"kind": "fire", "@x": 1}, (told.id,))
        world.wire_of(vehicle).news.append(heard_by(notify))
        world.settle()
        return [one for one in vehicle.events() if isinstance(one, Notified)]

    assert [one.ids for one in late(1)] == [(id,)]
    world.wait(11)
    vehicle.set_context({"x": 20}, world.now)
    world.settle()
    assert late(2) == [], "the next answer ends it"
    assert world.terms.counters["dropped_unsubscribed"] == 1


def heard_by(message: Any) -> Any:
    from overlay.systems.silbops.clients.wires import Heard

    return Heard("b1", message)
