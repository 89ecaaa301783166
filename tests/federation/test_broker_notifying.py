"""Subscriptions and notifications at a broker and between two, as transcripts."""

from __future__ import annotations

from overlay.systems.federation.wire import messages as m
from tests.federation.desk import World, note, publish, register, subscribe, subscription


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


def test_a_notification_crosses_a_link_between_brokers():
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
