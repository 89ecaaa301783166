"""Notifications for clients that are invalid or have no session."""

from __future__ import annotations

import pytest

from overlay.systems.federation.broker import held as rooms
from overlay.systems.federation.wire import messages as m
from tests.federation.desk import S, World, note, publish, register, subscribe, subscription
from tests.federation.test_broker_clients import ALIVE, DELTA, ONE, registered


def numbers(messages):
    return [one.notification.id.number for one in messages if isinstance(one, m.Notify)]


def invalid(*subscriptions, **settings):
    """c0 is invalid; p0 is not."""
    world = registered("c0", "p0", **settings)
    world.says("c0", subscribe(*subscriptions))
    world.until(DELTA)
    world.says("p0", ALIVE)
    world.hears("c0")
    return world


def test_at_most_a_thousand_are_held_and_the_oldest_of_the_lowest_priority_go_first(monkeypatch):
    monkeypatch.setattr(rooms, "MOST_HELD", 3)
    low, high = subscription(number=1, text="x = 0", priority=0), subscription(number=2, text="x = 2", priority=2)
    world = invalid(low, subscription(number=3, text="x = 1"), high)
    for number, x in enumerate([0, 2, 0, 1, 2], 1):
        world.says("p0", publish(note(number=number, x=x), req=0))
    assert world.broker.station.counters["dropped_held"] == 2
    world.says("c0", ALIVE)
    assert numbers(world.hears("c0")) == [2, 4, 5]


def test_expired_notifications_are_the_first_to_go(monkeypatch):
    monkeypatch.setattr(rooms, "MOST_HELD", 2)
    world = invalid(ONE)
    world.says("p0", publish(note(number=1), req=0), publish(note(number=2, s=2.5), req=0))
    world.says("p0", publish(note(number=3, s=2.5), req=0))
    assert world.broker.station.counters["dropped_held"] == 1, "none has expired, so the oldest went"
    world.until(2_500_000_000)
    world.says("p0", publish(note(number=4), req=0))
    world.says("c0", ALIVE)
    assert numbers(world.hears("c0")) == [4]


def test_held_notifications_satisfy_only_subscriptions_that_have_not_expired():
    short = subscription(number=2, s=3)
    world = invalid(ONE, short)
    world.says("p0", publish(note()))
    world.until(3 * S)
    world.says("c0", ALIVE)
    (message,) = world.hears("c0")
    assert message.satisfied == (ONE.id,)


def test_nothing_is_delivered_if_all_subscriptions_have_expired():
    world = invalid(subscription(s=3, once=True))
    world.says("p0", publish(note()))
    world.until(3 * S)
    world.says("c0", ALIVE)
    assert world.hears("c0") == []
    assert world.broker.station.counters["dropped_held"] == 1


def test_without_a_session_notifications_and_offers_wait_for_the_client_to_be_heard_again():
    world = World("c0", "p0", keepalive_s=60.0, cache_cap=0.0)
    world.says("p0", register("p0", scopes=("climate",)))
    world.says("c0", register("c0"), subscribe(ONE))
    world.hears("p0"), world.hears("c0")
    world.cut |= {"c0"}
    world.says("p0", publish(note(number=1)), publish(note(number=2)))
    world.until(20 * S)
    assert world.broker.peers.address("c0") is None, "given up"
    world.says("p0", publish(note(number=3)))
    assert world.broker.clients.is_valid("c0"), "a client is left to its own timers"
    world.cut.clear()
    world.enter("c0")
    world.settle()
    assert world.hears("c0") == [], "its session alone does not tell whether it wants them"
    world.says("c0", ALIVE)
    assert numbers(world.hears("c0")) == [1, 2, 3]


@pytest.mark.parametrize("message", [ALIVE, register("p0", 2, req=0, scopes=("climate",))])
def test_a_provider_without_a_session_is_offered_all_again(message):
    world = World("c0", "p0", keepalive_s=60.0)
    world.says("p0", register("p0", scopes=("climate",)))
    world.says("c0", register("c0"), subscribe(ONE))
    world.cut |= {"p0"}
    world.says("c0", subscribe(subscription(number=2)))
    world.until(20 * S)
    world.says("c0", subscribe(subscription(number=3)), subscribe(removed=[ONE.id]))
    world.cut.clear()
    world.enter("p0")
    world.settle()
    assert world.hears("p0") == []
    world.says("p0", message)
    (offer,) = world.hears("p0")
    assert sorted(one.id.number for one in offer.added) == [2, 3]


@pytest.mark.parametrize(("registration", "kept"), [(1, 1), (2, 0)])
def test_a_client_that_started_again_does_not_get_what_was_for_its_earlier_life(registration, kept):
    world = World("c0", "p0", keepalive_s=60.0, cache_cap=0.0)
    world.says("p0", register("p0", scopes=("climate",)))
    world.says("c0", register("c0"), subscribe(ONE))
    world.enter("c0")
    world.settle()
    world.says("p0", publish(note(number=1)))
    world.says("c0", register("c0", registration))
    assert world.hears("c0") == [*[m.Notify(note(number=1), (ONE.id,))][:kept], m.Ack(1)]
    assert len(world.broker.tables.subscriptions) == kept


def test_another_registration_over_the_same_session_keeps_what_the_client_has():
    world = invalid(ONE)
    world.says("p0", publish(note(number=1)))
    world.says("c0", register("c0", 2))
    assert world.hears("c0") == [m.Notify(note(number=1), (ONE.id,)), m.Ack(1)]
    assert len(world.broker.tables.subscriptions) == 1


@pytest.mark.parametrize("number", [60, 500])
def test_a_notification_of_many_subscriptions_of_one_client_comes_in_parts(number):
    world = registered("c0", "p0")
    for first in range(0, number, 500):
        world.says("c0", subscribe(*[subscription(number=first + i) for i in range(min(500, number - first))]))
    world.hears("c0")
    text = "x" * 1_000
    world.says("p0", publish(note(**{f"v{i}": text for i in range(50)})))
    heard = world.hears("c0")
    assert len(heard) == 1 if number == 60 else len(heard) > 1
    assert sorted(sid.number for one in heard for sid in one.satisfied) == list(range(number))
    assert world.broker.peers.counters["too_large"] == 0


def test_an_offer_of_many_subscriptions_comes_in_parts():
    world = registered("c0")
    long = " or ".join(f'x = "{"y" * 250}{i}"' for i in range(60))
    added = [subscription(number=i, text=long) for i in range(8)]
    for one in added:
        world.says("c0", subscribe(one, req=0))
    world.enter("p0")
    world.settle()
    world.says("p0", register("p0", scopes=("climate",)))
    _, *offers = world.hears("p0")
    assert [one for offer in offers for one in offer.added] == added
    assert len(offers) > 1
    for one in added:
        world.says("c0", subscribe(removed=[one.id], req=0))
    assert [sid for offer in world.hears("p0") for sid in offer.withdrawn] == [one.id for one in added]
