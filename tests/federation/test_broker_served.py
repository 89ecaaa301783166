"""Brokers with channels in virtual time: service times, queries over the tree, bulk mode, a device's energy."""

from __future__ import annotations

import pytest

from overlay.core.node import MILLISECOND
from overlay.systems.federation.processor.processor import MOST, PAUSE_AT
from overlay.systems.federation.settings import ON
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire import values as v
from tests.federation.tree_world import Customer, World, chain


class Knowing(Customer):
    """A provider that answers queries."""

    def hear(self, peer, message):
        if isinstance(message, m.Query) and self.answers:
            notes = tuple(self.note(scope) for scope in message.scopes)
            self.peers.send(peer, m.Answer(message.req, m.Code.GOOD, notes))


def knowing(world, name, broker, scope, *needed):
    one = world.add(Knowing(world, name, ("10.0.1.2", 2_000 + next(world.order)), broker, (scope,)))
    one.open(broker)
    adv = v.Advertisement(name, next(world.numbers), v.Role.PROVIDER, "", (scope,), {scope: needed} if needed else {})
    one.say(broker, m.Register(1, adv))
    return one


def ask(world, client, *scopes, left_ms=800):
    client.say(client.broker, m.Query(77, None, None, scopes, left_ms))
    world.run(2)
    (answer,) = client.heard_of(m.Answer)
    return answer


# ---- service times


def test_a_notification_takes_the_service_of_each_visit_on_its_way():
    world = chain(2, service_ms=20, service_cv=0)
    provider, consumer = world.client("p0", "b1", "s"), world.client("c0", "b0")
    world.run(1)
    consumer.subscribe("s", once=True)
    world.run(0.042)  # three links of 1 ms and two services take 43 ms
    assert not provider.heard_of(m.Offer)
    world.run(0.002)
    assert provider.heard_of(m.Offer)
    provider.publish("s")
    world.run(0.042)
    assert not consumer.notified
    world.run(0.002)
    assert len(consumer.notified) == 1
    visits = {name: world[name].statistics(world.now)["visits"] for name in ("b0", "b1")}
    assert visits == {"b0": 2, "b1": 2}  # SUBSCRIBE and FORWARD; SUBTABLE and PUBLISH
    assert world["b0"].statistics(world.now)["busy_ns"] == 2 * 20 * MILLISECOND


def test_a_subscription_has_no_effect_before_its_service_ends():
    world = chain(1, service_ms=100, service_cv=0)
    consumer = world.client("c0", "b0")
    world.run(0.5)
    consumer.subscribe("s")
    world.run(0.05)
    assert len(world["b0"].station.tables.subscriptions) == 0
    assert world["b0"].statistics(world.now)["queued"] == 1
    world.run(0.1)
    assert len(world["b0"].station.tables.subscriptions) == 1


def test_visits_count_without_service_times_as_well():
    world = chain(1)
    consumer = world.client("c0", "b0")
    world.run()
    consumer.subscribe("s")
    world.run()
    assert world["b0"].statistics(world.now)["visits"] == 1


def test_a_client_that_sends_too_much_is_paused_and_all_is_served_in_order():
    world = chain(1, service_ms=1, service_cv=0)
    consumer = world.client("c0", "b0")
    world.run()
    count = PAUSE_AT + 600
    for _ in range(count):
        consumer.subscribe("s")
    longest = 0
    for _ in range(40):
        world.run(0.05)
        longest = max(longest, len(world["b0"].processor))
    assert PAUSE_AT <= longest < MOST
    assert len(world["b0"].station.tables.subscriptions) == count
    assert len(world["b0"].processor) == 0


# ---- queries


def test_a_query_gets_the_data_that_its_provider_needs_from_another_broker():
    world = chain(3)
    far = knowing(world, "p0", "b2", "a", "b")
    knowing(world, "p1", "b0", "b")
    consumer = world.client("c0", "b0")
    world.run(1)
    answer = ask(world, consumer, "a")
    assert (answer.code, [note.id.provider for note in answer.notifications]) == (m.Code.GOOD, ["p0"])
    data, query = far.heard[-2:]
    assert isinstance(data[1], m.Answer)
    assert [note.scope for note in data[1].notifications] == ["b"]
    assert isinstance(query[1], m.Query)
    assert query[1].req == data[1].req


@pytest.mark.parametrize(("answers", "scope", "code"), [(True, "z", m.Code.NO_PROVIDER), (False, "a", m.Code.TIMEOUT)])
def test_queries_without_an_answer(answers, scope, code):
    world = chain(2)
    knowing(world, "p0", "b1", "a").answers = answers
    consumer = world.client("c0", "b0")
    world.run(1)
    assert ask(world, consumer, scope) == m.Answer(77, code)


def test_providers_that_need_each_other_make_a_cycle_over_brokers():
    world = chain(2)
    knowing(world, "p0", "b1", "a", "b")
    knowing(world, "p1", "b0", "b", "a")
    consumer = world.client("c0", "b0")
    world.run(1)
    assert ask(world, consumer, "a") == m.Answer(77, m.Code.CYCLE)


def test_a_lookup_names_providers_of_all_brokers():
    world = chain(2)
    knowing(world, "p0", "b1", "a")
    knowing(world, "p1", "b0", "a")
    consumer = world.client("c0", "b0")
    world.run(1)
    consumer.say("b0", m.Lookup(5, "a"))
    world.run()
    (found,) = consumer.heard_of(m.Found)
    assert [one.id for one in found.found] == ["p1", "p0"]


# ---- bulk mode


def low(client, scope, life_s):
    sid = v.SubscriptionId(client.name, next(client.world.numbers))
    wall_ms = client.world.wall_ms + round(life_s * 1_000)
    return v.Subscription(sid, (scope,), wall_ms, priority=v.Priority.LOW, once=True)


def bulk_world(**settings):
    """b1 is mobile; the provider is at b0, the consumer at b1."""
    world = chain(2, mobile_brokers="1", bulk=ON, **settings)
    provider, consumer = world.client("p0", "b0", "s"), world.client("c0", "b1")
    world.run(1)
    return world, provider, consumer


def told(world):
    return len(world["b0"].station.tables.subscriptions)


def test_collected_subscriptions_go_in_one_message_at_half_of_their_time():
    world, provider, consumer = bulk_world()
    before = world.count("b1", "out_subtable")
    for _ in range(3):
        consumer.say("b1", m.Subscribe(3, (low(consumer, "s", 10),), ()))
        world.run(1)
    assert told(world) == 0
    assert len(world["b1"].station.tables.subscriptions) == 3
    world.run(2.1)
    assert told(world) == 3
    assert world.count("b1", "out_subtable") == before + 1
    assert world.count("b1", "bulk_sent") == 3
    provider.publish("s")
    world.run()
    assert len(consumer.notified) == 1
    assert told(world) == 0


def test_a_full_queue_goes_at_once():
    world, _, consumer = bulk_world(omega=2)
    for expected in (0, 2, 2, 4):
        consumer.say("b1", m.Subscribe(3, (low(consumer, "s", 100),), ()))
        world.run()
        assert told(world) == expected


def test_a_neighbour_that_asks_for_the_whole_table_is_told_what_waits_and_not_twice():
    world, _, consumer = bulk_world()
    consumer.say("b1", m.Subscribe(3, (low(consumer, "s", 4),), ()))
    world.run()
    peers = world["b0"].peers
    peers.now = world.now
    peers.send("b1", m.Tables(m.Table.SUBSCRIPTIONS))
    world.drain(world["b0"])
    world.run()
    assert told(world) == 1
    before = world.count("b1", "out_subtable")
    world.run(3)
    assert world.count("b1", "out_subtable") == before
    world.check_edges()


def test_a_link_that_fails_meanwhile_loses_no_collected_subscription():
    world, provider, consumer = bulk_world(give_up_s=1.0, broker_keepalive_s=60.0)
    consumer.say("b1", m.Subscribe(3, (low(consumer, "s", 40),), ()))
    world.run()
    world.cut_link("b0-b1")
    world.run(4)
    world.heal()
    world.run(30)
    assert told(world) == 1
    world.check_edges()
    provider.publish("s")
    world.run(1)
    assert len(consumer.notified) == 1


# ---- energy


def test_a_broker_on_a_device_counts_its_energy():
    world = World(2, mobile_brokers="1", device="mcxb", energy_model="powertutor")
    world.run()
    world.service.publish("b0-b1")
    world.client("c0", "b1")
    world.run(1)
    world["b1"].handle_timer(world.now)
    before = world["b1"].statistics(world.now)
    assert "energy_uj" not in world["b0"].statistics(world.now)
    assert before["energy_uj"] == before["radio_uj"] + before["cpu_uj"]
    assert before["cpu_uj"] > 0
    world.run(10)
    idle = world["b1"].statistics(world.now)["radio_uj"] - before["radio_uj"]
    assert idle >= 10 * 34_370
