"""What brokers report of single notifications, subscriptions and queries."""

from __future__ import annotations

from overlay.core.node import SECOND
from overlay.systems.federation.broker.tracing import MOST_FOLLOWED, Tracer
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire import values as v
from tests.federation.test_broker_served import ask, knowing
from tests.federation.tree_world import chain


def told(world, about):
    """The steps of what this is about, at all brokers: ``ms broker step peer subscriptions``, ms since the first."""
    steps = [(step, broker.name) for broker in world.brokers for step in broker.traces() if step.about == about]
    steps.sort(key=lambda one: one[0].at)
    first = steps[0][0].arrived
    return [
        " ".join([f"{(one.at - first) // 1_000_000}", broker, one.step, one.peer, *one.subscriptions]).strip()
        for one, broker in steps
    ]


def test_the_way_of_a_notification_and_where_it_is_filtered():
    world = chain(4, trace_one_in=1)
    provider, consumer = world.client("p0", "b1", "s"), world.client("c0", "b3")
    world.run(1)
    consumer.subscribe("s", number=7)
    world.run(1)
    nid = provider.publish("s")
    world.run(1)
    assert told(world, f"n|p0|{nid.number}") == [
        "0 b1 published p0",
        "0 b1 matched b2 c0|7",
        "0 b1 filtered b0",
        "0 b1 forwarded b2",
        "1 b2 received b1",
        "1 b2 matched b3 c0|7",
        "1 b2 forwarded b3",
        "2 b3 received b2",
        "2 b3 notified c0 c0|7",
    ]


def test_the_way_of_a_subscription_to_the_provider():
    world = chain(3, trace_one_in=1)
    world.client("p0", "b2", "s")
    consumer = world.client("c0", "b0")
    world.run(1)
    consumer.subscribe("s", number=7)
    world.run(1)
    assert told(world, "s|c0|7") == [
        "0 b0 subscribed c0",
        "0 b0 told b1",
        "1 b1 learned b0",
        "1 b1 told b2",
        "2 b2 learned b1",
        "2 b2 offered p0",
    ]


def test_a_notification_from_the_cache():
    world = chain(1, trace_one_in=1, cache_cap=1)
    provider, consumer = world.client("p0", "b0", "s"), world.client("c0", "b0")
    world.run()
    nid = provider.publish("s")
    world.run()
    consumer.subscribe("s", once=True, number=7)
    world.run()
    (steps,) = [broker.traces() for broker in world.brokers]
    assert [(one.about, one.step, one.peer, one.detail) for one in steps] == [
        (f"n|p0|{nid.number}", "published", "p0", ""),
        ("s|c0|7", "subscribed", "c0", ""),
        ("s|c0|7", "answered", "c0", f"n|p0|{nid.number}"),
        (f"n|p0|{nid.number}", "notified", "c0", ""),
    ]


def test_a_notification_waits_for_a_client_that_is_invalid():
    world = chain(1, trace_one_in=1, keepalive_s=10, implicit_keepalive=False)
    consumer = world.client("c0", "b0")
    world.run()
    consumer.subscribe("s", number=7)
    world.run(9)
    provider = world.client("p0", "b0", "s")
    world.run(2)
    nid = provider.publish("s")
    world.run(1)
    consumer.say("b0", m.KeepAlive(consumer.registration))
    world.run(1)
    assert told(world, f"n|p0|{nid.number}") == [
        "0 b0 published p0",
        "0 b0 held c0 c0|7",
        "1000 b0 notified c0 c0|7",
    ]


def test_a_notification_waits_for_a_mobile_broker_that_is_away():
    world = chain(2, trace_one_in=1, mobile_brokers="1", give_up_s=1, broker_keepalive_s=60)
    provider, consumer = world.client("p0", "b0", "s"), world.client("c0", "b1")
    world.run(1)
    consumer.subscribe("s", number=7)
    world.run(1)
    world.cut_link("b0-b1")
    nid = provider.publish("s")  # while nobody knows that it is away
    world.run(3)
    late = provider.publish("s")
    world.run(1)
    world.heal()
    world.run(20)
    steps = [step for broker in world.brokers for step in broker.traces()]

    def words(nid):
        return [one.step for one in steps if one.about == f"n|p0|{nid.number}" and one.peer != "p0"]

    assert words(nid) == ["matched", "forwarded", "received", "notified"]  # the session outlasts it
    assert words(late) == ["matched", "stored", "sent later", "received", "notified"]


def test_a_message_that_waited_for_the_processor():
    world = chain(1, trace_one_in=1, service_ms=20, service_cv=0)
    provider = world.client("p0", "b0", "s")
    world.run()
    provider.publish("s")
    world.run()
    (published,) = world["b0"].traces()
    assert published.at - published.arrived == 20_000_000


def test_the_chain_of_a_query_with_what_its_provider_needs():
    world = chain(2, trace_one_in=1)
    knowing(world, "p0", "b1", "a", "b")
    knowing(world, "p1", "b0", "b")
    consumer = world.client("c0", "b0")
    world.run(1)
    ask(world, consumer, "a")
    steps = {broker.name: [one for one in broker.traces() if one.about[0] == "q"] for broker in world.brokers}
    words = {name: [(one.step, one.peer, one.detail.split(" ")[0]) for one in of] for name, of in steps.items()}
    assert words == {
        "b0": [
            ("asked", "c0", "a"),
            ("asks", "p1", "b"),  # which p0 needs
            ("answered", "p1", "b"),
            ("asks", "b1", "a"),
            ("answered", "b1", "a"),
            ("replied", "c0", "GOOD"),
        ],
        "b1": [("asked", "b0", "a"), ("asks", "p0", "a"), ("answered", "p0", "a"), ("replied", "b0", "GOOD")],
    }
    number = next(one.detail.split(" ")[1] for one in steps["b0"] if (one.step, one.peer) == ("asks", "b1"))
    assert {one.about for one in steps["b1"]} == {f"q|b0|{number}"}


def test_one_in_so_many_is_traced_and_what_satisfies_it():
    world = chain(2, trace_one_in=10)
    provider, consumer = world.client("p0", "b1", "s"), world.client("c0", "b0")
    world.run(1)
    for number in range(101, 111):
        consumer.subscribe("s", number=number, once=number == 110)
    world.run(1)
    world.numbers = iter([203, 204, 210])
    for _ in range(3):
        provider.publish("s")
        world.run(1)
    about = {one.about for broker in world.brokers for one in broker.traces()}
    assert about == {"s|c0|110", "n|p0|203", "n|p0|210"}  # 203 satisfied 110, which ended with it


def test_nothing_is_kept_without_tracing():
    world = chain(2, trace_one_in=0)
    provider = world.client("p0", "b1", "s")
    world.run(1)
    provider.publish("s")
    world.run(1)
    assert [broker.traces() for broker in world.brokers] == [(), ()]


def test_steps_of_a_second_are_bounded(monkeypatch):
    monkeypatch.setattr("overlay.systems.federation.broker.tracing.LISTED_A_SECOND", 5)
    world = chain(1, trace_one_in=1)
    provider = world.client("p0", "b0", "s")
    world.run()
    notes = [v.Publication(provider.note("s")) for _ in range(9)]
    provider.say("b0", m.Publish(4, tuple(notes)))
    world.run(0.5)
    assert len(world["b0"].traces()) == 5


def test_what_is_remembered_as_traced_is_bounded():
    tracer, one = Tracer(1), v.Subscription(v.SubscriptionId("c0", 7), ("s",), 1)
    for number in range(2 * MOST_FOLLOWED):
        tracer.cached(one, v.NotificationId("p0", number), 0)
    tracer.take()
    for number in range(2 * MOST_FOLLOWED):
        tracer.note("notified", v.NotificationId("p0", number), "c0", number * SECOND)
    assert len(tracer.take()) == MOST_FOLLOWED
