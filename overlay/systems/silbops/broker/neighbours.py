"""The edges of the tree: sessions with neighbours, and what they are told (seed 002, section 7).

::

            session up: PEER                PEER heard, of this version
    LOST ──────────────────> GREETING ────────────────────────────────> CONNECTED
      ^                          │                                          │
      └──────────────────────────┴──── session down: all its rows go ───────┘

Both ends begin with nothing told, so the first difference is all that the neighbour is to know.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from overlay.core.addresses import Address
from overlay.core.node import SECOND
from overlay.systems.silbops.broker.events import NeighbourConnected, NeighbourLost, NeighbourRefused
from overlay.systems.silbops.broker.routing import Routing
from overlay.systems.silbops.broker.station import Clock, Station
from overlay.systems.silbops.tables import Key, Link
from overlay.systems.silbops.tables.outlet import Difference
from overlay.systems.silbops.tables.rows import neighbour
from overlay.systems.silbops.wire import messages as m

VERSION = 1
"""Of the messages between brokers."""
RETRY = SECOND
LOST, GREETING, CONNECTED = range(3)


class Edge:
    __slots__ = ("address", "broker", "link", "peer", "state")

    def __init__(self, broker: str, address: Address) -> None:
        self.broker, self.address = broker, address
        self.peer, self.link = broker.encode(), neighbour(broker)
        self.state = LOST


class Neighbours:
    def __init__(self, station: Station, routing: Routing, neighbours: Mapping[str, Address], epoch: int) -> None:
        """``epoch`` tells this life of the broker from others."""
        self._station, self._routing, self._epoch = station, routing, epoch
        self._edges = {broker: Edge(broker, address) for broker, address in neighbours.items()}
        self._prune_after = round(station.settings.prune_after_s * SECOND)
        for broker in self._edges:
            station.set_timer(Clock.EDGE, broker, 0)

    def __iter__(self) -> Iterator[Edge]:
        return iter(self._edges.values())

    @property
    def connected(self) -> int:
        return sum(edge.state == CONNECTED for edge in self._edges.values())

    # ---- sessions

    def ring(self, broker: str) -> None:
        """Both ends open it; that makes one session."""
        edge = self._edges[broker]
        if edge.state == LOST:
            self._station.peers.open(edge.peer, edge.address)
            self._station.set_timer(Clock.EDGE, broker, self._station.now + RETRY)

    def up(self, broker: str) -> None:
        edge = self._edges.get(broker)
        if edge is not None:
            edge.state = GREETING
            self._station.cancel(Clock.EDGE, broker)
            self._station.pressure.send(edge.peer, m.Peer(self._station.name, self._epoch, VERSION))

    def down(self, broker: str, reason: str) -> None:
        edge = self._edges.get(broker)
        if edge is None:
            return
        if edge.state == CONNECTED:
            self._station.tables.drop_link(edge.link)
            self._station.log.append(NeighbourLost(broker, reason))
        edge.state = LOST
        self._station.set_timer(Clock.EDGE, broker, self._station.now + RETRY)

    # ---- messages

    def take(self, broker: str, message: Any) -> None:
        edge = self._edges.get(broker)
        if edge is not None and isinstance(message, m.Peer):
            self._greeted(edge, message)
        elif edge is None or edge.state != CONNECTED:
            self._station.counters["dropped_no_neighbour"] += 1
        else:
            self._apply(edge.link, message)

    def _greeted(self, edge: Edge, message: m.Peer) -> None:
        if message.broker != edge.broker or message.version != VERSION:
            said = f"{message.broker}, version {message.version}"
            self._station.log.append(NeighbourRefused(edge.broker, said))
            self._station.peers.close(edge.peer)
        elif edge.state == GREETING:
            edge.state = CONNECTED
            self._station.tables.connect(edge.link)
            self._station.log.append(NeighbourConnected(edge.broker))

    def _apply(self, link: Link, message: Any) -> None:
        tables = self._station.tables
        match message:
            case m.Pub():
                self._routing.forward(link, message)
            case m.Ctx():
                tables.set_context(link, message.owner, message.context)
            case m.Sub():
                tables.subscribe(link, message.subscription)
            case m.Unsub():
                tables.unsubscribe(link, message.key)
            case m.Forget():
                tables.forget(link, message.owner)
            case m.Adv():
                tables.advertise(link, message.advertisement)
            case m.Unadv():
                tables.unadvertise(link, message.key)
            case m.Pctx():
                tables.announce(link, message.publisher, message.context)
            case _:
                self._station.counters["dropped_unexpected"] += 1

    def ring_prune(self, key: tuple[Link, Key]) -> None:
        self._station.tables.ripen(*key)

    def tell(self) -> None:
        """After each step: what has changed for each neighbour."""
        for idle in self._station.tables.newly_idle():
            self._station.set_timer(Clock.PRUNE, idle, self._station.now + self._prune_after)
        tracer = self._station.tracer
        for link, difference in self._station.tables.differences():
            peer = link.name.encode()
            for message in _messages(difference):
                self._station.pressure.send(peer, message)
                if tracer is not None:
                    tracer.told(message, link.name, self._station.now)

    def check_invariants(self) -> None:
        """Raises ``AssertionError``."""
        for broker, edge in self._edges.items():
            assert ((Clock.EDGE, broker) in self._station.timers) == (edge.state == LOST)


def _messages(one: Difference) -> Iterable[Any]:
    """In the order in which they are to arrive."""
    for advertisement in one.advertised:
        yield m.Adv(advertisement)
    for key in one.unadvertised:
        yield m.Unadv(key)
    for owner, context in one.publishers:
        yield m.Pctx(owner, context)
    for owner, context in one.contexts:
        yield m.Ctx(owner, context)
    for subscription in one.subscribed:
        yield m.Sub(subscription)
    for key in one.unsubscribed:
        yield m.Unsub(key)
    for owner in one.forgotten:
        yield m.Forget(owner)
