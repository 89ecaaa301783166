"""Brokers and clients over the channel, in virtual time: datagrams are late, lost, repeated and overtake each other."""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count
from random import Random
from typing import Any

import pytest

from overlay.core.addresses import Address
from overlay.core.chance import Chances, Stream
from overlay.core.node import MILLISECOND, SECOND
from overlay.systems.roles import Place
from overlay.systems.silbops.broker.broker import Broker
from overlay.systems.silbops.clients.channel import ChannelWire
from overlay.systems.silbops.clients.client import Client
from overlay.systems.silbops.clients.events import Notified
from overlay.systems.silbops.clients.terms import Site, Terms
from overlay.systems.silbops.config import ServerConfig
from overlay.systems.silbops.content.filters import read_filter
from overlay.systems.silbops.peers import Peers
from overlay.systems.silbops.scope.text import parse
from overlay.systems.silbops.settings import Settings
from overlay.systems.silbops.wire import messages as m
from overlay.systems.silbops.wire.codec import MAX_BYTES, MAX_CLIENT_BYTES, SILBOPS

SQUARE = parse("this.x-20 <= pub.x <= this.x+20")
FIRE = read_filter([["kind", "=", "fire"]])
ORIGIN = 1_000 * SECOND


class Network:
    def __init__(self, brokers: int, loss: float, seed: int, **settings: Any) -> None:
        self.now, self.loss, self._random = ORIGIN, loss, Random(seed)
        self.settings = Settings(**settings)
        self.nodes: dict[Address, Any] = {}
        self.gone: set[Address] = set()
        self._flying: list[tuple[int, int, bytes, Address, Address]] = []
        self._order = count()
        self.got: dict[int, list[int]] = {}
        self.addresses = [("10.0.0.1", number) for number in range(brokers)]
        self.config = ServerConfig(self.settings, brokers, tuple((at, at + 1) for at in range(brokers - 1)))
        for number in range(brokers):
            self.start(number)

    def start(self, number: int, life: int = 0) -> None:
        place = Place(f"broker-{number}", number, self.addresses[number], self.addresses)
        chances = Chances.streams(100 * life + number)
        broker = self.nodes[self.addresses[number]] = Broker(self.config, place, chances, -self.now)
        broker.handle_timer(self.now)

    def client(self, broker: int) -> Client:
        number = len(self.got) + 1
        id = bytes([number]) * 16
        wire = ChannelWire(Peers(id, self.settings, Stream(number), -self.now))
        client = Client(Terms.of(self.settings), id, wire, self.now)
        self.got[number] = []
        self.nodes["10.0.1.1", number] = client
        client.attach(self.site(broker), self.now)
        self.run(1)
        return client

    def site(self, broker: int) -> Site:
        return Site(f"b{broker}", self.addresses[broker])

    def run(self, seconds: float) -> None:
        """With all datagrams and deadlines of that time."""
        until = self.now + round(seconds * SECOND)
        self._flush()
        while (at := self._next()) <= until:
            self.now = max(self.now, at)
            while self._flying and self._flying[0][0] <= self.now:
                _, _, data, source, to = heappop(self._flying)
                if to in self.nodes and to not in self.gone:
                    self.nodes[to].receive_datagrams([(data, source)], self.now)
            for address, node in self.nodes.items():
                if address not in self.gone and (due := node.next_timer()) is not None and due <= self.now:
                    node.handle_timer(self.now)
            self._flush()
        self.now = until
        for address in self.addresses:
            self.nodes[address].check_invariants()

    def _next(self) -> int:
        dues = [node.next_timer() for address, node in self.nodes.items() if address not in self.gone]
        return min([one for one in dues if one is not None] + [one[0] for one in self._flying[:1]], default=1 << 62)

    def _flush(self) -> None:
        for address, node in self.nodes.items():
            if isinstance(node, Client):
                notes = [event for event in node.events() if isinstance(event, Notified)]
                self.got[address[1]] += [event.number for event in notes]
            else:
                node.events()
            for data, to in node.datagrams_to_send():
                for _ in range(self._copies()):
                    at = self.now + round(self._random.uniform(1, 20) * MILLISECOND)
                    heappush(self._flying, (at, next(self._order), data, address, to))

    def _copies(self) -> int:
        if self._random.random() < self.loss:
            return 0
        return 2 if self._random.random() < self.loss else 1


@pytest.mark.parametrize("loss", [0, 0.1])
def test_a_vehicle_drives_from_broker_to_broker_and_misses_nothing(loss: float) -> None:
    network = Network(3, loss, 1, handover_s=5)
    camera, vehicle = network.client(0), network.client(2)
    camera.advertise((), frozenset({"x"}), network.now)
    camera.set_context({"x": 110}, network.now)
    vehicle.set_context({"x": 100}, network.now)
    vehicle.subscribe(FIRE, network.now, scope=SQUARE)
    network.run(5)
    sent = []
    for step in range(32):
        if step in (8, 16, 24):
            vehicle.attach(network.site((1, 0, 2)[step // 8 - 1]), network.now)
        sent.append(camera.publish({"kind": "fire"}, network.now))
        network.run(0.25)
    network.run(15)
    assert sorted(network.got[2]) == sent
    assert network.got[1] == []
    rows = [node.statistics(network.now)["rows_subscriptions"] for node in list(network.nodes.values())[:3]]
    assert rows == [1, 1, 1]


def test_a_broker_that_starts_again_is_told_everything() -> None:
    network = Network(3, 0.05, 2)
    camera, vehicle = network.client(0), network.client(2)
    camera.advertise((), frozenset({"x"}), network.now)
    camera.set_context({"x": 110}, network.now)
    vehicle.set_context({"x": 100}, network.now)
    vehicle.subscribe(FIRE, network.now, scope=SQUARE)
    network.run(3)
    network.start(1, life=1)
    network.run(20)
    number = camera.publish({"kind": "fire"}, network.now)
    network.run(3)
    assert network.got[2] == [number]


def test_what_a_broker_had_passed_on_and_not_acknowledged_comes_again_after_its_end() -> None:
    """By another key of its publisher: the next broker does not know who it was."""
    network = Network(2, 0, 3)
    camera, vehicle = network.client(0), network.client(1)
    camera.advertise((), frozenset({"x"}), network.now)
    vehicle.subscribe(FIRE, network.now)
    network.run(2)
    sent = [camera.publish({"kind": "fire"}, network.now)]
    network.run(1)
    sent.append(camera.publish({"kind": "fire"}, network.now))
    address = network.addresses[0]
    while network.nodes[address].core.station.counters["forwarded"] != 2:
        network.run(0.001)
    network.start(0, life=1)
    network.gone.add(("10.0.1.1", 1))
    other = network.client(0)
    other.advertise((), frozenset({"x"}), network.now)
    network.run(10)
    assert network.got[2] == sent
    network.gone.clear()
    network.run(20)
    assert network.got[2] == [*sent, sent[1]]


# ---- the longest messages


def notification(size: int) -> dict[str, str]:
    """Of a PUBLISH of so many bytes, 59,700 at least."""
    values = {f"a{place}": "x" * 1_000 for place in range(59)}
    bare = len(SILBOPS.encode(m.Publish(1, {**values, "z": "x" * 256}, {})))
    values["z"] = "x" * (256 + size - bare)
    assert len(SILBOPS.encode(m.Publish(1, values, {}))) == size
    return values


def two_brokers_and_a_vehicle_with(subscriptions: int) -> tuple[Network, Client, Client]:
    network = Network(2, 0, 4)
    camera, vehicle = network.client(0), network.client(1)
    camera.advertise((), frozenset(), network.now)
    for _ in range(subscriptions):
        vehicle.subscribe((), network.now)
    network.run(3)
    return network, camera, vehicle


def counted(network: Network, broker: int, name: str) -> int:
    return network.nodes[network.addresses[broker]].statistics(network.now).get(name, 0)


def test_a_publication_that_would_not_fit_further_on_is_refused_where_it_enters() -> None:
    network, camera, _ = two_brokers_and_a_vehicle_with(1)
    longest = camera.publish(notification(MAX_CLIENT_BYTES), network.now)
    for size in (MAX_CLIENT_BYTES + 1, MAX_BYTES):
        camera.publish(notification(size), network.now)
    network.run(3)
    assert network.got[2] == [longest]
    assert counted(network, 0, "refused_too_large") == 2


def test_a_notification_that_fits_into_no_message_is_counted_and_ends_nothing() -> None:
    """The ids of all subscriptions that it satisfies make it too long."""
    network, camera, vehicle = two_brokers_and_a_vehicle_with(300)
    camera.publish(notification(MAX_CLIENT_BYTES), network.now)
    network.run(3)
    assert counted(network, 1, "undeliverable") == 1
    vehicle.attach(network.site(0), network.now)
    network.run(2)
    camera.publish(notification(MAX_CLIENT_BYTES), network.now)
    network.run(2)
    assert counted(network, 0, "undeliverable") == 1
    assert (counted(network, 1, "passed_on"), counted(network, 1, "visits_given_up")) == (1, 1)
    assert counted(network, 1, "in_peer") == 1, "the neighbours have had one session"
    number = camera.publish({"kind": "fire"}, network.now)
    network.run(2)
    assert network.got[2] == [number]


def test_a_client_takes_along_what_fits_into_messages() -> None:
    network, camera, vehicle = two_brokers_and_a_vehicle_with(300)
    vehicle.detach(network.now)
    network.run(2)
    first = camera.publish({"kind": "fire"}, network.now)
    camera.publish(notification(MAX_CLIENT_BYTES), network.now)
    network.run(2)
    vehicle.attach(network.site(0), network.now)
    network.run(9)
    assert network.got[2] == [first]
    assert counted(network, 0, "rows_subscriptions") == 300
