"""The library of applications: what it hears, when it commits, where it sends to."""

from __future__ import annotations

from random import Random

from overlay.log.node import Assignment, Subscription
from overlay.log.topics import Position
from overlay.systems.contextnet.applications.application import GROUP, Application
from overlay.systems.contextnet.records import codec
from overlay.systems.contextnet.records.records import Inbound, Message
from overlay.systems.contextnet.settings import Settings
from tests.contextnet.records_of import gateway_list, node, presence, record

OURS = Assignment("inbound", GROUP, 0, 0)


def application(*known):
    made = Application("app", Settings(), Random(1), 0, (Subscription("inbound", GROUP),))
    others = [Assignment(one.topic, one.group, 0, 0) for one in made.directory.subscriptions]
    made.assigned([OURS, *others], 0)
    made.receive_records(known, 0)
    made.positions_to_commit()
    return made


def inbound(position, id=None, source=7):
    message = Message(id or position.to_bytes(16, "big"), node(source).hex(), "inbound", 1, payload=b"hello")
    return record("inbound", Inbound(message, "gateway-0", 3), key=node(source), position=position)


def committed(made):
    return {found.position for found in made.positions_to_commit() if found.topic == "inbound"}


def test_what_it_hears_is_committed_once_it_is_settled_in_any_order():
    made = application()
    made.receive_records([inbound(1), inbound(2)], 1)
    first, second = made.waiting
    assert (first.message.payload, first.gateway, first.topic) == (b"hello", "gateway-0", "inbound")
    assert made.take_up(first, 2)
    assert made.take_up(second, 2)
    made.settle(second.record)
    assert committed(made) == set()
    made.settle(first.record)
    assert committed(made) == {3}
    made.check_invariants()


def test_a_message_that_was_handled_is_settled_when_it_comes_again():
    made = application()
    made.receive_records([inbound(1, id=bytes(16)), inbound(2, id=bytes(16))], 1)
    first, again = made.waiting
    assert made.take_up(first, 2)
    assert not made.take_up(again, 3)
    made.settle(first.record)
    assert made.positions_to_commit() == [Position("inbound", GROUP, 0, 3)]


def test_what_waits_of_a_partition_that_others_own_now_is_forgotten():
    made = application()
    assert made.hears_all
    made.receive_records([inbound(1)], 1)
    made.revoked([OURS], 2)
    assert (list(made.waiting), made.hears_all) == ([], False)


def test_it_sends_to_the_gateway_of_a_node_or_to_the_store():
    made = application(gateway_list(1, 0, 1), presence(7, 1, epoch=3))
    assert made.is_ready
    durable = []
    here = made.compose(node(7).hex(), b"a", 5_000, ttl_s=60)
    assert made.send(node(7), here, lambda: durable.append("here")) == ("gateway.1", 3)
    assert made.send(node(8), made.compose(node(8).hex(), b"b", 5_000)).is_absent
    first, second = made.records_to_append()
    assert (first.topic, first.key, codec.read(first.topic, first.value).message) == ("gateway.1", node(7), here)
    assert (second.topic, codec.read("unsent", second.value).reason) == ("unsent", "absent")
    made.appended([first.token], 6)
    assert durable == ["here"]
    assert (here.source, here.created_at, here.ttl_s) == ("app", 5, 60)


def test_it_sends_to_groups_and_to_all():
    made = application()
    topics = [made.cast(made.compose(to, b"", 0)) for to in ("floor/3", "3", "*")]
    assert topics == ["groupcast", "groupcast", "broadcast"]
    assert [codec.read(one.topic, one.value).group for one in made.records_to_append()] == ["floor/3", "3", "*"]


def test_what_it_cannot_read_is_rejected_and_settled():
    made = application()
    made.receive_records([record("inbound", b"\xc1", key=b"k", position=4)], 1)
    (rejected,) = made.records_to_append()
    assert rejected.topic == "rejected"
    made.appended([rejected.token], 2)
    assert committed(made) == {5}
