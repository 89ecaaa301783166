"""The edges of the tree: sessions to neighbours, HELLO both ways, FORWARD (seed 001, section 7; details, section 2).

What is told over an edge that is ready is ``exchange``'s.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from overlay.channel import Back, Down, Quiet, Reason, Up
from overlay.core.addresses import parse_address
from overlay.core.node import SECOND
from overlay.peers.peers import SessionEvent
from overlay.systems.federation.broker.edges import Edge
from overlay.systems.federation.broker.exchange import Exchange
from overlay.systems.federation.broker.flood import Flood
from overlay.systems.federation.broker.forwarding import Forwarding
from overlay.systems.federation.broker.meeting import Meeting
from overlay.systems.federation.broker.neighbour_events import (
    NeighbourAway,
    NeighbourLost,
    TreeChanged,
)
from overlay.systems.federation.broker.old_edges import OldEdges
from overlay.systems.federation.broker.station import Clock, Station
from overlay.systems.federation.tables.outlets import Change
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire.values import BrokerAdvertisement, Notification, SubscriptionId


class Neighbours:
    def __init__(self, station: Station, own: BrokerAdvertisement) -> None:
        self._station, self.own = station, own
        self._peers, self._tables, self._counters = station.peers, station.tables, station.counters
        settings = station.settings
        self._keep_for = round(2 * settings.broker_keepalive_s * SECOND)
        self.retry = min(SECOND, round(settings.broker_keepalive_s * SECOND) // 2)
        """Between attempts to open a session, ns."""
        self.epoch = 0
        self._edges: dict[str, Edge] = {}
        self._old = OldEdges(station)
        """Those of ``_edges`` that are of an earlier tree."""
        self._forwarding = Forwarding(station, self._edges)
        exchange = Flood if station.is_flooded else Exchange
        self._exchange: Exchange | Flood = exchange(station, self._edges, self._forwarding)
        self._meeting = Meeting(station, own.domain, self._edges, self._exchange)

    @property
    def own_without_candidates(self) -> BrokerAdvertisement:
        """For HERE."""
        return replace(self.own, candidates=())

    def __len__(self) -> int:
        """Edges of the current tree."""
        return len(self._edges) - len(self._old)

    def is_neighbour(self, broker: str) -> bool:
        """In the current tree."""
        return broker in self._edges and broker not in self._old

    @property
    def has_ready(self) -> bool:
        """Whether any neighbour can be told something."""
        return any(edge.is_ready for edge in self._edges.values())

    @property
    def stored(self) -> int:
        """Notifications that wait for a neighbour."""
        return sum(len(edge.store) for edge in self._edges.values())

    @property
    def edges(self) -> Collection[Edge]:
        """Those of earlier trees included."""
        return self._edges.values()

    def gives_up_at(self, edge: Edge) -> int | None:
        """When what is stored for a mobile neighbour that is away is given up; ``None`` if it is not away."""
        return self._station.timers.get((Clock.STORE, edge.broker)) if edge.is_quiet else None

    # ---- the tree

    def take_tree(
        self,
        epoch: int,
        brokers: Mapping[str, BrokerAdvertisement],
        edges: frozenset[str],
        reached: frozenset[str] = frozenset(),
    ) -> None:
        """A newer epoch: all brokers that the service named, and the own neighbours in the tree. ``reached``, where
        links may form cycles: those to which edges lead."""
        self.epoch = epoch
        for edge in list(self._edges.values()):
            if edge.broker not in brokers:
                self._remove(edge, "gone")
            elif edge.broker not in edges and edge.is_current:
                self._retire(edge)
        for broker in sorted(edges):
            if broker in brokers and broker != self.own.id:
                self._keep(brokers[broker])
        current = [broker for broker in self._edges if broker not in self._old]
        self._station.log.append(TreeChanged(epoch, tuple(sorted(current))))
        self._release_old()
        self._exchange.keep_homes(reached)
        self._exchange.out_of_turn()

    def move(self, broker: BrokerAdvertisement) -> None:
        """The service tells another endpoint of it. Nothing changes if it is no neighbour."""
        edge, address = self._edges.get(broker.id), parse_address(broker.endpoint)
        if edge is not None and edge.address != address:
            edge.address = address
            self._peers.readdress(broker.id, address)

    def leave(self) -> None:
        """Close all sessions with neighbours."""
        for edge in list(self._edges.values()):
            self._remove(edge, "left")

    def _keep(self, broker: BrokerAdvertisement) -> None:
        edge = self._edges.get(broker.id)
        if edge is not None and edge.is_current:
            self.move(broker)
            return
        new = Edge(broker.id, parse_address(broker.endpoint), self.own.is_mobile or broker.is_mobile)
        if edge is not None:
            self._old.remove(edge)
            new.store = edge.store
        self._edges[broker.id] = new
        self._exchange.start()
        self._open(new)

    def _retire(self, edge: Edge) -> None:
        self._exchange.forget(edge)
        self._old.add(edge)

    def _release_old(self) -> None:
        if self._old and all(edge.is_connected for edge in self._edges.values() if edge.is_current):
            self._old.release()

    def _remove(self, edge: Edge, reason: str) -> None:
        """With all that came over it, and its session."""
        broker = edge.broker
        self._lose(edge, reason)
        self._old.remove(edge)
        self._forwarding.clear(edge)
        self._station.cancel(Clock.STORE, broker)
        del self._edges[broker]
        self._peers.close(broker)

    def _lose(self, edge: Edge, reason: str) -> None:
        """What came over it is gone."""
        self._pause(edge)
        if edge.is_connected:
            edge.is_connected = False
            self._exchange.forget(edge)
            self._tables.disconnect(edge.broker)
            self._exchange.out_of_turn()
            self._station.log.append(NeighbourLost(edge.broker, reason))

    # ---- sessions

    def session(self, event: SessionEvent) -> None:
        name = event.peer.decode(errors="replace")
        if isinstance(event, Down):
            self._meeting.hellos.remove(name)
        edge = self._edges.get(name)
        if edge is None:
            return
        match event:
            case Up():
                self._open(edge)
            case Down():
                self._down(edge, event)
            case Quiet():
                self._quiet(edge)
            case Back():
                self._back(edge)

    def ring_edge(self, broker: str) -> None:
        edge = self._edges[broker]
        if edge.is_current:
            self._open(edge)
        else:
            self._remove(edge, "gone")

    def ring_store(self, broker: str) -> None:
        """A mobile neighbour was away for too long."""
        edge = self._edges[broker]
        self._lose(edge, "away")
        self._forwarding.clear(edge)

    def _open(self, edge: Edge) -> None:
        """Where there is a session, nothing is opened; what is to be said over it is."""
        if not edge.is_current:
            return
        edge.opened_at = self._station.now
        if not self._peers.open(edge.broker, edge.address, keep=edge.is_kept):
            self._station.set_timer(Clock.EDGE, edge.broker, self._station.now + self.retry)
            return
        self._meeting.say(edge, self.own, self.epoch)
        if self._meeting.meet(edge):
            self._release_old()

    def _down(self, edge: Edge, event: Down) -> None:
        edge.is_quiet = False
        self._station.cancel(Clock.STORE, edge.broker)
        if not edge.is_current:
            self._forwarding.take_back(edge, event.undelivered)
            self._remove(edge, "gone")
            return
        self._pause(edge)
        if event.reason is Reason.UNREACHABLE:
            self._lose(edge, "unreachable")
        self._forwarding.take_back(edge, event.undelivered)
        again = edge.opened_at + self.retry
        if again <= self._station.now:
            self._open(edge)
        else:
            self._station.set_timer(Clock.EDGE, edge.broker, again)

    def _quiet(self, edge: Edge) -> None:
        edge.is_quiet = True
        is_said = edge.has_said
        self._pause(edge)
        edge.has_said = is_said
        self._station.set_timer(Clock.STORE, edge.broker, self._station.now + self._keep_for)
        self._station.log.append(NeighbourAway(edge.broker))

    def _back(self, edge: Edge) -> None:
        """In the same session, so that nothing that was sent before is lost."""
        edge.is_quiet = False
        self._station.cancel(Clock.STORE, edge.broker)
        if edge.is_current:
            self._open(edge)
        else:
            self._forwarding.flush(edge)

    def _pause(self, edge: Edge) -> None:
        self._exchange.end(edge)
        edge.is_ready = edge.can_forward = edge.has_said = False

    # ---- messages

    def hello(self, broker: str, message: m.Hello) -> None:
        if message.broker.id != broker:
            words = f"The session is of {broker}, HELLO of {message.broker.id}."
            self._peers.refuse(broker, message, m.Code.BAD, words)
            return
        if self._peers.address(broker) is None:
            return  # its session ended while the message was in a queue
        self._meeting.hellos.add(broker, message)
        edge = self._edges.get(broker)
        if edge is None or not edge.is_current:
            return
        if edge.is_ready:
            self._exchange.end(edge)
            edge.is_ready = False
        self._open(edge)

    def out_of_turn(self) -> None:
        """A provider, a consumer's first subscription, or a removal: neighbours are told before the next exchange."""
        self._exchange.out_of_turn()

    def subscriptions(self, broker: str, message: m.SubTable) -> None:
        if (edge := self._connected(broker)) is not None:
            self._exchange.subscriptions(edge, message)

    def registrations(self, broker: str, message: m.RegTable) -> None:
        """Own clients that are registered elsewhere since go into ``Station.superseded``."""
        if (edge := self._connected(broker)) is not None:
            self._exchange.registrations(edge, message)

    def tables(self, broker: str, message: m.Tables) -> None:
        edge = self._edges.get(broker)
        if edge is None or not edge.is_ready:
            self._counters["dropped_no_edge"] += 1
        else:
            self._exchange.tables(edge, message)

    def may_forward(self, broker: str) -> bool:
        """As ``Forwarding.may_forward``."""
        return self._forwarding.may_forward(broker)

    def forward(
        self,
        broker: str,
        notification: Notification,
        hops: int,
        path: tuple[str, ...],
        ended: tuple[SubscriptionId, ...],
        drop: int,
    ) -> None:
        """As ``Forwarding.forward``."""
        self._forwarding.forward(broker, notification, hops, path, ended, drop)

    def _connected(self, broker: str) -> Edge | None:
        """The edge, if tables are taken over it now."""
        edge = self._edges.get(broker)
        if edge is not None and edge.is_connected:
            return edge
        self._counters["dropped_no_edge"] += 1
        return None

    def tell(self, change: Change) -> None:
        """SUBTABLE: what has changed for one neighbour."""
        self._exchange.tell(change)

    def exchange(self) -> None:
        """After each step: REGTABLE to those to whom it is due."""
        self._exchange.settle()

    def ring_exchange(self, key: str) -> None:
        self._exchange.ring(key)

    # ---- invariants

    def check_invariants(self) -> None:
        """(I1), (I2), (I8) and (I10) of section 12, as far as they are about edges. Raises ``AssertionError``."""
        self._exchange.check_invariants()
        edges, tables = self._edges.values(), self._tables
        assert {edge.broker for edge in edges if edge.is_connected} == set(tables.registrations.neighbours)
        assert {edge.broker for edge in edges if not edge.is_current} == set(self._old)
        sources = {where.id for where in tables.subscriptions.destinations() if where.is_neighbour}
        assert sources <= {edge.broker for edge in edges if edge.is_connected or edge.has_entries}, "(I1)"
        self._meeting.hellos.check_invariants()
        for edge in edges:
            edge.check_invariants(self._station.timers, self._peers.address(edge.broker) is not None)
