"""Subscriptions and notifications at a broker and between two, as transcripts."""

from __future__ import annotations

import pytest

from overlay.systems.federation.broker import duplicates, notifying, parts
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire import values as v
from tests.federation.desk import S, World, note, publish, register, subscribe, subscription

ONE = subscription()


def world_of(*names, **settings):
    """All registered at ``b0``."""
    world = World(*names, **({"cache_cap": 0.0} | settings))
    for name in names:
        world.says(name, register(name, scopes=("climate",) if name[0] == "p" else ()))
        world.hears(name)
    return world


def refusals(world, name):
    return [(one.kind, one.req, one.code) for one in world.hears(name) if isinstance(one, m.Nack)]


def held(world):
    return {(one.id, one.expires) for row in world.broker.tables.subscriptions._index for one in [row.subscription]}


# ---- SUBSCRIBE


def test_a_consumer_subscribes_a_provider_is_asked_publishes_and_the_consumer_is_notified():
    world = World("p0", "c0")
    world.says("p0", register("p0", scopes=("climate",)))
    assert world.hears("p0") == [m.Ack(1)]
    world.says("c0", register("c0"), subscribe(subscription(text="x > 1")))
    assert world.hears("c0") == [m.Ack(1), m.Ack(2)]
    assert world.hears("p0") == [m.Offer((subscription(text="x > 1"),))]
    world.says("p0", publish(note(x=1)), publish(note(number=2, x=2)))
    assert world.hears("p0") == [m.Ack(3), m.Ack(3)]
    assert world.hears("c0") == [m.Notify(note(number=2, x=2), (("c0", 1),))]


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (subscribe(subscription(number=2), subscription("c1", 3)), m.Code.BAD),
        (subscribe(subscription(number=2), removed=[("c1", 1)]), m.Code.BAD),
        (subscribe(subscription(number=2), subscription(text="x > 1")), m.Code.INVALID),
        (subscribe(subscription(number=2), subscription(once=True)), m.Code.INVALID),
        (subscribe(subscription(number=2), subscription(priority=2)), m.Code.INVALID),
        (subscribe(subscription(number=2), subscription(scopes=("light",))), m.Code.INVALID),
        (subscribe(subscription(number=2), subscription(number=2, text="x = 1")), m.Code.INVALID),
    ],
)
def test_a_subscribe_is_taken_whole_or_refused_whole(message, code):
    world = world_of("c0")
    world.says("c0", subscribe(ONE))
    before = held(world)
    world.says("c0", message)
    assert refusals(world, "c0") == [(4, 2, code)]
    assert held(world) == before


def test_the_same_subscription_again_renews_its_expiry():
    world = world_of("c0", "p0")
    world.says("c0", subscribe(subscription(text="x = 1", s=5)))
    world.hears("p0")
    world.says("c0", subscribe(subscription(text="x = 1", s=9)))
    assert world.hears("p0") == [m.Offer((subscription(text="x = 1", s=9),))]
    world.says("c0", subscribe(subscription(text="x = 1", s=9)))
    assert world.hears("p0") == [], "nothing has changed"
    world.until(5 * S)
    assert len(held(world)) == 1
    world.until(9 * S - 1)
    assert len(held(world)) == 1
    world.until(9 * S)
    assert held(world) == set()


@pytest.mark.parametrize("text", ["x = true", "x = 1.0"])
def test_numbers_that_are_equal_in_python_are_other_content(text):
    world = world_of("c0")
    world.says("c0", subscribe(subscription(text="x = 1")), subscribe(subscription(text=text)))
    assert refusals(world, "c0") == [(4, 2, m.Code.INVALID)]


def test_a_subscription_that_has_expired_is_taken_and_gone():
    world = world_of("c0")
    world.says("c0", subscribe(subscription(s=5)))
    world.until(S)
    world.says("c0", subscribe(subscription(number=2, s=1), subscription(s=1)))
    assert world.hears("c0") == [m.Ack(2), m.Ack(2)]
    assert held(world) == set()


def test_removing_comes_after_adding_and_what_is_unknown_is_ignored():
    world = world_of("c0")
    world.says("c0", subscribe(ONE, subscription(number=2), removed=[ONE.id, ("c0", 99)]))
    assert world.hears("c0") == [m.Ack(2)]
    assert {sid for sid, _ in held(world)} == {("c0", 2)}


def test_a_request_without_a_number_is_not_acknowledged():
    world = world_of("c0", "p0")
    world.says("c0", subscribe(ONE, req=0))
    world.says("p0", publish(note(), req=0))
    assert [type(one) for one in world.hears("p0") + world.hears("c0")] == [m.Offer, m.Notify]


def test_a_consumers_first_subscription_is_told_to_neighbours_out_of_turn():
    world = world_of("c0")
    before = world.broker.tree.told
    world.says("c0", subscribe(ONE))
    world.says("c0", subscribe(subscription(number=2)))
    assert world.broker.tree.told == before + 1


def test_subscriptions_are_bounded_for_a_client_and_in_all(monkeypatch):
    monkeypatch.setattr(notifying, "MOST_SUBSCRIPTIONS", 2)
    monkeypatch.setattr(notifying, "MOST_OF_ALL", 3)
    world = world_of("c0", "c1")
    several = [subscription(number=i) for i in range(3)]
    world.says("c0", subscribe(*several))
    assert refusals(world, "c0") == [(4, 2, m.Code.LIMIT)]
    assert held(world) == set()
    world.says("c0", subscribe(*several[:2]), subscribe(*several[:2]))
    assert world.hears("c0") == [m.Ack(2), m.Ack(2)]
    world.says("c1", subscribe(subscription("c1", 1), subscription("c1", 2)), subscribe(subscription("c1", 1)))
    assert [type(one) for one in world.hears("c1")] == [m.Nack, m.Ack]


# ---- PUBLISH


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (publish(note(), note("p1", 2)), m.Code.BAD),
        (publish(note(), note(number=2, scope="light")), m.Code.INVALID),
    ],
)
def test_a_publish_is_taken_whole_or_refused_whole(message, code):
    world = world_of("c0", "p0")
    world.says("c0", subscribe(ONE))
    world.hears("c0"), world.hears("p0")
    world.says("p0", message)
    assert refusals(world, "p0") == [(5, 3, code)]
    assert world.hears("c0") == []
    world.says("p0", publish(note()))
    assert world.hears("c0") == [m.Notify(note(), (ONE.id,))], "the id was not used"


def test_a_consumer_publishes_nothing():
    world = world_of("c0")
    world.says("c0", register("c0", 2, scopes=("climate",)), publish(note("c0")))
    assert refusals(world, "c0") == [(5, 3, m.Code.INVALID)]


def test_a_notification_does_not_return_to_its_provider():
    world = world_of("p0")
    world.says("p0", subscribe(subscription("p0")), publish(note()))
    assert world.hears("p0") == [m.Ack(2), m.Ack(3)], "no OFFER of its own subscription either"


def test_one_notification_satisfies_several_subscriptions_and_ends_the_queries_among_them():
    world = world_of("c0", "c1", "p0")
    world.says("c0", subscribe(ONE, subscription(number=2, once=True)))
    world.says("c1", subscribe(subscription("c1", 1, once=True)))
    for name in ("c0", "c1", "p0"):
        world.hears(name)
    world.says("p0", publish(note()))
    assert world.hears("c0") == [m.Notify(note(), (("c0", 1), ("c0", 2)))]
    assert world.hears("c1") == [m.Notify(note(), (("c1", 1),))]
    _, offer = world.hears("p0")
    assert set(offer.withdrawn) == {("c0", 2), ("c1", 1)}
    world.says("p0", publish(note(number=2)))
    assert world.hears("c0") == [m.Notify(note(number=2), (ONE.id,))]
    assert world.hears("c1") == []


def test_what_a_provider_believes_satisfied_is_a_hint():
    world = world_of("c0", "p0")
    right, wrong = subscription(number=1, once=True), subscription(number=2, text="x = 1", once=True)
    world.says("c0", subscribe(right, wrong))
    world.hears("p0")
    world.says("p0", publish(note(x=2), satisfied=[right.id, wrong.id, ("c9", 1)]))
    assert world.hears("p0") == [m.Ack(3)], "it has dropped both itself"
    assert world.hears("c0")[1:] == [m.Notify(note(x=2), (right.id,))]
    assert world.broker.station.counters["wrong_hints"] == 1
    world.says("p0", publish(note(number=2, x=1)))
    assert world.hears("c0") == [m.Notify(note(number=2, x=1), (wrong.id,))]


def test_an_id_is_routed_once_within_120_s(monkeypatch):
    monkeypatch.setattr(duplicates, "MOST_REMEMBERED", 3)
    world = world_of("c0", "p0", keepalive_s=600.0)
    world.says("c0", subscribe(ONE))
    world.hears("c0")
    world.says("p0", publish(note()), publish(note(x=1)))
    assert world.hears("c0") == [m.Notify(note(), (ONE.id,))]
    assert world.broker.station.counters["duplicates"] == 1
    world.until(120 * S - 1)
    world.says("p0", publish(note()))
    assert world.hears("c0") == []
    world.until(120 * S)
    world.says("p0", publish(note()))
    assert len(world.hears("c0")) == 1
    world.says("p0", publish(note(number=2), note(number=3), note(number=4)), publish(note()))
    assert len(world.hears("c0")) == 4, "three newer ones have taken its place"


# ---- FORWARD


def two(**settings):
    """c0 at b0, p0 at b1."""
    world = World("c0", brokers=("b0", "b1"), **({"cache_cap": 0.0} | settings))
    world.enter("p0", "b1")
    world.settle()
    world.says("p0", register("p0", scopes=("climate",)), to="b1")
    world.says("c0", register("c0"))
    world.hears("c0"), world.hears("p0")
    return world


def test_a_query_crosses_links_and_ends_on_all_with_its_notification():
    world = World("c0", brokers=("b0", "b1", "b2"))
    world.enter("p0", "b2")
    world.settle()
    world.says("p0", register("p0", scopes=("climate",)), to="b2")
    query = subscription(once=True)
    world.says("c0", register("c0"), subscribe(query))
    assert world.hears("p0") == [m.Ack(1), m.Offer((query,))]
    world.says("p0", publish(note(), satisfied=[query.id]), to="b2")
    assert world.hears("c0")[2:] == [m.Notify(note(), (query.id,), False, 2)]
    assert all(len(desk.tables.subscriptions) == 0 for desk in world.desks.values())
    assert world.desks["b1"].peers.counters["in_subtable"] == 1, "queries end without messages"


def test_nothing_is_forwarded_where_nobody_is_interested():
    world = two()
    world.says("p0", publish(note()), to="b1")
    assert world.desks["b1"].peers.counters["out_forward"] == 0


def test_with_routing_of_notifications_all_go_everywhere_and_no_provider_is_asked():
    world = two(routing="notifications")
    world.says("c0", subscribe(ONE))
    assert world.hears("p0") == []
    world.says("p0", publish(note()), publish(note(number=2, scope="climate")), to="b1")
    assert world.hears("c0")[1:] == [
        m.Notify(note(), (ONE.id,), False, 1),
        m.Notify(note(number=2), (ONE.id,), False, 1),
    ]
    assert world.desks["b1"].peers.counters["out_subtable"] == world.broker.peers.counters["out_subtable"] == 0
    world.says("c0", subscribe(removed=[ONE.id]))
    world.says("p0", publish(note(number=3)), to="b1")
    assert world.broker.peers.counters["in_forward"] == 3


def test_a_forward_is_taken_from_neighbours_only():
    world = two()
    world.says("c0", subscribe(ONE))
    world.enter("b2")
    world.settle()
    world.says("b2", m.Forward(note(), 1))
    assert [type(one) for one in world.hears("c0")] == [m.Ack]


@pytest.mark.parametrize(("path", "dropped"), [(("b1",), 0), (("b1", "b0"), 1), (("x",) * 32, 0)])
def test_a_forward_that_has_been_here_is_dropped(path, dropped):
    world = two()
    world.says("c0", subscribe(ONE))
    world.hears("c0")
    world.desks["b1"].peers.send("b0", m.Forward(note("p1"), 1, path))
    world.settle()
    assert len(world.hears("c0")) == 1 - dropped
    assert world.broker.station.counters["dropped_path"] == dropped


@pytest.mark.parametrize(("before", "dropped"), [(3, 0), (31, 0), (32, 1)])
def test_paths_are_kept_and_bounded_where_links_may_form_cycles(before, dropped):
    world = World("c0", brokers=("b0", "b1", "b2"), cycles="suppress", routing="notifications", cache_cap=0.0)
    world.says("c0", register("c0"), subscribe(ONE))
    world.hears("c0")
    path = tuple(f"x{i}" for i in range(before))
    world.desks["b2"].peers.send("b1", m.Forward(note(), before, path))
    world.settle()
    assert len(world.hears("c0")) == 1 - dropped
    assert world.desks["b1"].station.counters["dropped_path"] == dropped


def test_a_forward_is_not_sent_back_and_not_taken_twice():
    world = World("c0", brokers=("b0", "b1", "b2"), routing="flooding", cache_cap=0.0)
    world.says("c0", register("c0"), subscribe(ONE))
    world.hears("c0")
    for _ in range(2):
        world.desks["b2"].peers.send("b1", m.Forward(note(), 1))
        world.settle()
    assert world.hears("c0") == [m.Notify(note(), (ONE.id,), False, 2)]
    assert world.desks["b1"].peers.counters["out_forward"] == 1
    assert world.desks["b1"].station.counters["duplicates"] == 1


def test_more_ended_queries_than_a_message_has_room_for_go_in_several(monkeypatch):
    monkeypatch.setattr(parts, "FEW", 4)
    world = two()
    world.says("c0", subscribe(*[subscription(number=i, once=True) for i in range(10)]))
    world.hears("c0")
    world.says("p0", publish(note()), to="b1")
    assert sorted(sid.number for one in world.hears("c0") for sid in one.satisfied) == list(range(10))
    assert world.broker.peers.counters["in_forward"] == 3
    for name, desk in world.desks.items():
        assert len(desk.tables.subscriptions) == 0
        assert all(one == v.Summary() for one in (desk.tables.sent_to("b1" if name == "b0" else "b0")[0],))


@pytest.mark.parametrize("priority", [0, 1, 2])
def test_the_highest_priority_decides_which_notifications_a_full_queue_drops(priority, monkeypatch):
    world = two()
    world.says("c0", subscribe(subscription(priority=0), subscription(number=2, priority=priority)))
    sent = []
    for desk in world.desks.values():
        send = desk.peers.send
        monkeypatch.setattr(desk.peers, "send", lambda *a, send=send: sent.append(a) or send(*a))
    world.says("p0", publish(note()), to="b1")
    drops = {type(message): drop[0] for _, message, *drop in sent if drop}
    assert drops == {m.Forward: priority, m.Notify: priority}
