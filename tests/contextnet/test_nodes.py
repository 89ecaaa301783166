"""A mobile node with two gateways that are played by the test."""

from __future__ import annotations

from collections import Counter

from overlay.core.chance import Stream
from overlay.core.node import MILLISECOND, SECOND
from overlay.systems.contextnet.nodes.choice import weighted_order
from overlay.systems.contextnet.nodes.node import Accepted, Connected, MobileNode, Parted, Received
from overlay.systems.contextnet.nodes.recent import Recent
from overlay.systems.contextnet.nodes.settings import MemorySettings
from overlay.systems.contextnet.records.codec import read_message, write
from overlay.systems.contextnet.records.records import Message
from overlay.systems.contextnet.transport import controls
from overlay.systems.contextnet.transport.controls import Gateway
from overlay.systems.contextnet.transport.events import Arrived
from overlay.systems.contextnet.transport.packets import Kind
from overlay.systems.contextnet.transport.settings import TransportSettings
from tests.contextnet.test_hand_over import AT, NODE, ONE, OTHER, Scene


class NodeScene(Scene):
    def __init__(self, dedup_ids=1_024, **settings):
        super().__init__(**settings)
        memory = MemorySettings(dedup_ids=dedup_ids)
        self.node = MobileNode(NODE, b"s" * 32, TransportSettings(**settings), memory, Stream(9))
        self.node.context = b"\x80"
        self.node.turn_on(0, (ONE, OTHER))
        self.run(20)

    def give(self, gateway, kind, data):
        self.gateways[gateway].send(NODE, kind, data, None, self.now)
        self.run(20)

    def received(self):
        return [event.message.payload for event in self.of(AT, Received)]


def message(id, payload=b"hello"):
    return write(Message(id * 16, "application-0", NODE.hex(), 0, payload=payload, reply_to="answers.application-0"))


def test_a_node_sends_its_context_with_each_message_and_learns_that_it_was_taken_over():
    scene = NodeScene()
    sent = scene.node.compose("inbound", b"21 degrees", scene.now, reply_to=scene.node.name)
    assert scene.node.send(sent, scene.now)
    scene.run(50)
    (arrived,) = scene.of(ONE, Arrived)
    found = read_message(arrived.data)
    assert (found.source, found.context, found.payload) == (NODE.hex(), b"\x80", b"21 degrees")
    assert [event.id for event in scene.of(AT, Accepted)] == [sent.id]


def test_a_message_that_came_by_another_gateway_already_is_dropped():
    scene = NodeScene()
    scene.give(ONE, Kind.MESSAGE, message(b"a"))
    scene.give(ONE, Kind.HAND_OVER, controls.write_hand_over(controls.HandOver(1, (OTHER,))))
    assert [(event.gateway, event.was_ordered) for event in scene.of(AT, Connected)] == [(ONE, False), (OTHER, True)]
    scene.give(OTHER, Kind.MESSAGE, message(b"a"))
    scene.give(OTHER, Kind.MESSAGE, message(b"b", b"more"))
    assert scene.received() == [b"hello", b"more"]
    assert scene.node.counters["known"] == 1


def test_without_memory_it_gets_a_message_twice():
    scene = NodeScene(dedup_ids=0)
    scene.give(ONE, Kind.MESSAGE, message(b"a"))
    scene.give(ONE, Kind.MESSAGE, message(b"a"))
    assert scene.received() == [b"hello", b"hello"]


def test_a_node_that_was_off_tries_its_last_gateway_first():
    scene = NodeScene()
    scene.give(ONE, Kind.GATEWAY_LIST, controls.write_gateway_list(controls.GatewayList(3, (Gateway(OTHER, 255),))))
    scene.node.turn_off(scene.now)
    assert scene.node.next_timer() is None
    scene.give(ONE, Kind.MESSAGE, message(b"a"))
    assert scene.received() == []
    scene.node.turn_on(scene.now)
    scene.run(500)
    assert [event.gateway for event in scene.of(AT, Connected)] == [ONE, ONE]
    assert scene.received() == [b"hello"], "the connection was resumed"


def test_a_node_that_goes_with_a_word_is_gone_at_once():
    scene = NodeScene()
    scene.node.turn_off(scene.now, is_graceful=True)
    scene.run(5)
    assert scene.gateways[ONE].members == {}
    assert [event.reason for event in scene.of(AT, Parted)] == ["done"]


def test_an_older_list_and_bytes_that_are_no_message_change_nothing():
    scene = NodeScene()
    scene.give(ONE, Kind.GATEWAY_LIST, controls.write_gateway_list(controls.GatewayList(3, (Gateway(OTHER, 255),))))
    scene.give(ONE, Kind.GATEWAY_LIST, controls.write_gateway_list(controls.GatewayList(2, (Gateway(ONE, 255),))))
    scene.give(ONE, Kind.MESSAGE, b"no message")
    scene.give(ONE, Kind.HAND_OVER, b"?")
    assert scene.node.counters["unreadable"] == 2
    del scene.gateways[ONE]
    scene.node.turn_off(scene.now)
    scene.node.turn_on(scene.now)
    scene.run(12_000)
    assert [event.gateway for event in scene.of(AT, Connected)] == [ONE, OTHER]


def test_gateways_are_first_in_proportion_to_their_weights():
    gateways = [Gateway(("192.0.2.1", 1), 200), Gateway(("192.0.2.2", 1), 50), Gateway(("192.0.2.3", 1), 0)]
    chance = Stream(4)
    firsts = Counter(weighted_order(gateways, chance)[0][0] for _ in range(2_000))
    assert 0.77 < firsts["192.0.2.1"] / 2_000 < 0.83
    assert firsts["192.0.2.3"] < 5
    assert sorted(weighted_order(gateways, chance)) == sorted(one.address for one in gateways)


def test_ids_are_forgotten_by_number_and_by_time():
    recent = Recent(2, 10)
    assert [recent.add(id, 0) for id in (b"a", b"b", b"a", b"c", b"a")] == [True, True, False, True, True]
    assert not recent.add(b"a", 9 * SECOND)
    assert recent.add(b"a", 10 * SECOND + MILLISECOND)
