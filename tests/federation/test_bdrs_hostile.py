"""Hostile input at the registration service: nothing raises, and what is refused changes nothing."""

from __future__ import annotations

import msgpack
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.core.node import SECOND
from overlay.systems.federation.bdrs import bdrs as module
from overlay.systems.federation.bdrs.epochs import MOST_ADVERTISEMENT
from overlay.systems.federation.bdrs.publishing import HOLD, MOST_HEARD
from overlay.systems.federation.bdrs.quota import BURST
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire.values import BrokerAdvertisement, Candidate
from tests.federation import drawn
from tests.federation.registry_world import SERVICE_AT, World, s
from tests.federation.test_bdrs import mesh
from tests.thorough import examples


def refusals(node):
    return [(one.kind, one.req, one.code) for one in node.news() if isinstance(one, m.Nack)]


def refused(world, node, *messages):
    before = dict(world.service.registry.all), world.published().epoch
    node.news()
    world.send(node, *messages)
    world.run(SECOND)
    assert (dict(world.service.registry.all), world.published().epoch) == before
    return refusals(node)


def test_what_a_broker_may_not_say():
    world = World(broker_keepalive_s=60.0)
    b0, b1 = mesh(world, "b0", "b1")
    world.run(s(1))
    own, other = b0.advertisement(), b1.advertisement()

    def with_candidates(*names):
        return BrokerAdvertisement("b0", own.endpoint, candidates=tuple(Candidate(name, 1, True) for name in names))

    long = with_candidates(*(f"{i:040}" for i in range(1_000)))
    cases = [
        (m.Broker(5, other, 2, True), m.Code.BAD),
        (m.Broker(5, other, 2, False), m.Code.BAD),
        (m.Broker(5, own, MOST_HEARD, True), m.Code.BAD),
        (m.Broker(5, with_candidates("b1", "b0"), 2, True), m.Code.BAD),
        (m.Broker(5, with_candidates("b1", "b1"), 2, True), m.Code.BAD),
        (m.Broker(5, long, 2, True), m.Code.LIMIT),
        (m.Broker(0, long, 2, True), m.Code.LIMIT),
    ]
    for message, code in cases:
        assert refused(world, b0, message) == [(17, message.req, code)]
    assert refused(world, b0, m.KeepAlive(2**64 - 1)) == [(2, 0, m.Code.BAD)]
    assert len(msgpack.packb("0" * 40)) * 1_000 > MOST_ADVERTISEMENT


def test_what_is_for_others_is_refused_and_answers_are_ignored():
    world = World(broker_keepalive_s=60.0)
    (b0,) = mesh(world, "b0")
    world.run(s(1))
    note = m.Lookup(9, "climate")
    assert refused(world, b0, note, m.Unregister(4, 1), m.Tables(m.Table.SUBSCRIPTIONS)) == [
        (8, 9, m.Code.BAD),
        (3, 4, m.Code.BAD),
        (16, 0, m.Code.BAD),
    ]
    answers = m.Ack(1), m.Nack(17, 1, m.Code.UNKNOWN), m.Found(1), m.Brokers(99, m.Whole.LAST, (), (), ())
    assert refused(world, b0, *answers) == []
    assert world.service.statistics(world.now)["unexpected"] == 4


def test_malformed_messages_are_refused_once_a_second():
    world = World(broker_keepalive_s=60.0)
    (b0,) = mesh(world, "b0")
    world.run(s(1))
    b0.news()
    for _ in range(3):
        b0.peers.now = world.now
        for data in (b"<ctxAdv/>", b"\xc1", msgpack.packb([17, 7, "b0"])):
            b0.peers.channel.send(b"bdrs", data, world.now)
        world._step(b0)
        world.run(SECOND // 2)
    assert len(refusals(b0)) == 2


def test_a_flood_of_one_peer_is_refused_and_others_are_served():
    world = World(broker_keepalive_s=60.0)
    b0, b1 = mesh(world, "b0", "b1")
    world.run(s(10))
    b0.news(), b1.news()
    world.send(b0, *(m.Find(i + 1) for i in range(2 * BURST)))
    world.send(b1, m.Find(1))
    world.run(SECOND)
    codes = [one.code for one in b0.news() if isinstance(one, m.Nack)]
    assert 0 < len(codes) <= BURST and set(codes) == {m.Code.LIMIT}
    assert [type(one) for one in b1.news()] == [m.Found]
    assert world.service.statistics(world.now)["over_quota"] == len(codes)


def test_there_are_so_many_brokers_at_most(monkeypatch):
    monkeypatch.setattr(module, "MOST_BROKERS", 2)
    world = World(broker_keepalive_s=60.0)
    b0, _ = mesh(world, "b0", "b1")
    b2 = world.add("b2")
    world.run(s(1))
    assert refused(world, b2, m.Broker(1, b2.advertisement(), 0, True)) == [(17, 1, m.Code.LIMIT)]
    world.register(b0)
    world.leave(b0)
    world.register(b2)
    world.run(s(1))
    assert world.service.registry.all.keys() == {"b1", "b2"}


def test_the_highest_epoch_that_can_be_claimed_leaves_room():
    world = World()
    b0, evil = world.add("b0"), world.add("evil")
    world.moment()
    world.register(b0)
    world.register(evil, last_epoch=MOST_HEARD - 1)
    world.run(s(3), keeps=[b0])
    assert b0.epoch == MOST_HEARD
    world.leave(evil)
    world.run(s(3), keeps=[b0])
    assert b0.epoch == MOST_HEARD + 1 and b0.brokers.keys() == {"b0"}


def test_a_flapping_broker_causes_one_epoch_in_a_hold():
    world = World()
    b0, _ = mesh(world, "b0", "b1")
    world.run(s(1))
    before, began = world.published().epoch, world.now
    for index in range(100):
        b0.position = (float(index), 0.0)
        world.register(b0)
        world.run(HOLD // 10)
    assert world.published().epoch - before <= (world.now - began) // HOLD + 1


@settings(max_examples=examples(140))
@given(st.lists(drawn.messages, max_size=6), st.lists(st.binary(max_size=60), max_size=3))
def test_no_message_raises(messages, datagrams):
    world = World()
    b0 = world.add("b0", ("b1", 5))
    world.moment()
    for message in messages:
        b0.peers.now = world.now
        b0.peers.send("bdrs", message)
    world._step(b0)
    world.moment()
    for data in datagrams:
        world._transmit([(data, SERVICE_AT)], b0.address, "b0")
        world._transmit([(b"\xc5" + data, SERVICE_AT)], b0.address, "b0")
    world.moment()
    assert world.service.registry.all.keys() <= {"b0"}
