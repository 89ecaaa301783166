"""A node between two gateways: hand-overs, and a network that is away for a while."""

from __future__ import annotations

import pytest

from overlay.core.chance import Stream
from overlay.core.node import MILLISECOND, SECOND
from overlay.systems.contextnet.transport.events import Acknowledged, Arrived, Ended, Ending, Opened
from overlay.systems.contextnet.transport.gate import Secret
from overlay.systems.contextnet.transport.gateway import GatewayEnd
from overlay.systems.contextnet.transport.layouts import Type
from overlay.systems.contextnet.transport.node import NodeEnd
from overlay.systems.contextnet.transport.packets import Kind
from overlay.systems.contextnet.transport.settings import TransportSettings

ONE, OTHER, ABSENT = ("198.51.100.1", 4001), ("198.51.100.2", 4001), ("198.51.100.9", 4001)
NODE, AT = b"n" * 16, ("192.0.2.7", 40_000)


class Scene:
    """Datagrams take a millisecond; records are durable at once."""

    def __init__(self, **settings):
        settings = TransportSettings(**settings)
        self.now, self.told = 0, []
        self.gateways = {
            address: GatewayEnd(n, b"g" * 32, {NODE: Secret(b"s" * 32)}.get, settings, Stream(n))
            for address, n in ((ONE, 1), (OTHER, 2))
        }
        self.node = NodeEnd(NODE, b"s" * 32, 0, settings, Stream(9))
        self.flying = []

    def run(self, ms):
        for _ in range(ms):
            self.now += MILLISECOND
            flying, self.flying = self.flying, []
            for data, source, to in flying:
                end = self.gateways.get(to) if to != AT else self.node
                if end is not None:
                    end.receive_datagrams([(data, source)], self.now)
            for address, end in [*self.gateways.items(), (AT, self.node)]:
                self._step(address, end)

    def _step(self, address, end):
        timer = end.next_timer()
        if timer is not None and timer <= self.now:
            end.handle_timer(self.now)
        for event in end.events():
            self.told.append((address, event))
            if isinstance(event, Arrived) and event.receipt:
                end.settle(event.receipt, self.now)
        end.check_invariants()
        self.flying += [(data, address, to) for data, to in end.datagrams_to_send()]

    def of(self, address, kind):
        return [event for where, event in self.told if where == address and isinstance(event, kind)]


def opened(**settings):
    scene = Scene(**settings)
    scene.node.connect((ONE,), 0)
    scene.run(20)
    assert scene.node.is_open
    return scene


def test_a_node_connects_to_its_target_before_it_leaves_and_sends_again_what_was_not_acknowledged():
    scene = opened()
    scene.node.send(Kind.MESSAGE, b"hello", 1, scene.now)
    scene.run(100)
    scene.node.move((OTHER,), scene.now)
    scene.run(100)
    assert [event.reason for event in scene.of(ONE, Ended)] == [Ending.MOVED]
    assert [event.epoch for event in scene.of(OTHER, Opened)] == [2]
    assert [event.token for event in scene.of(AT, Acknowledged)] == [1]
    scene.node.send(Kind.MESSAGE, b"again", 2, scene.now)
    scene.run(100)
    assert [event.data for event in scene.of(OTHER, Arrived)] == [b"again"]


def test_a_node_stays_where_it_is_if_no_target_answers():
    scene = opened()
    scene.node.move((ABSENT,), scene.now)
    scene.run(13_000)
    assert scene.node.is_open and scene.of(ONE, Ended) == []
    assert scene.node.epoch == 2, "the attempt has used an epoch"
    scene.node.send(Kind.MESSAGE, b"hello", 1, scene.now)
    scene.run(100)
    assert [event.data for event in scene.of(ONE, Arrived)] == [b"hello"]


def test_a_gateway_that_ends_the_connection_first_does_not_end_the_hand_over():
    scene = opened()
    scene.node.move((OTHER,), scene.now)
    scene.run(1)
    scene.gateways[ONE].learn_epoch(NODE, 2, scene.now)
    scene.run(100)
    assert [event.reason for event in scene.of(AT, Ended)] == [Ending.SUPERSEDED]
    assert [event.gateway for event in scene.of(AT, Opened)] == [ONE, OTHER]


@pytest.mark.parametrize("resume", [True, False])
def test_after_an_absence_a_node_makes_a_new_connection_and_what_waits_is_sent(resume):
    scene = opened(resume=resume)
    scene.node.suspend(scene.now)
    scene.node.send(Kind.MESSAGE, b"late", 1, scene.now)
    scene.gateways[ONE].send(NODE, Kind.MESSAGE, b"for you", 7, scene.now)
    before = scene.node.next_timer()
    scene.run(5_000)
    assert before is None and scene.of(ONE, Ended) == [], "no gateway has noticed"
    scene.node.connect((ONE,), scene.now)
    scene.run(1_000)
    assert [event.data for event in scene.of(ONE, Arrived)] == [b"late"]
    assert scene.of(AT, Opened)[-1].resumed is resume
    assert [event.data for event in scene.of(AT, Arrived)] == ([b"for you"] if resume else [])
    assert [event.undelivered for event in scene.of(ONE, Ended)] == ([] if resume else [(7,)])
    assert scene.now < 10 * SECOND


def test_each_gateway_of_a_host_has_a_cookie_of_its_own():
    scene = opened()
    neighbour = ONE[0], 4002
    settings = TransportSettings()
    scene.gateways[neighbour] = GatewayEnd(3, b"h" * 32, {NODE: Secret(b"s" * 32)}.get, settings, Stream(3))
    retries = []
    for target in (neighbour, ONE, neighbour):
        scene.node.move((target,), scene.now)
        retries.append(0)
        for _ in range(100):
            scene.run(1)
            retries[-1] += sum(data[0] & 15 == Type.RETRY for data, _, _ in scene.flying)
    assert [event.gateway for event in scene.of(AT, Opened)] == [ONE, neighbour, ONE, neighbour]
    assert retries == [1, 0, 0]
