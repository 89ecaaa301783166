"""HELLO over an edge, both ways, before any table (details, section 2)."""

from __future__ import annotations

from collections.abc import Mapping

from overlay.systems.federation.broker.edges import Edge
from overlay.systems.federation.broker.exchange import Exchange
from overlay.systems.federation.broker.flood import Flood
from overlay.systems.federation.broker.hellos import Hellos
from overlay.systems.federation.broker.neighbour_events import ForeignNeighbour, NeighbourConnected
from overlay.systems.federation.broker.station import Station
from overlay.systems.federation.wire.messages import Hello, Table
from overlay.systems.federation.wire.values import BrokerAdvertisement


class Meeting:
    def __init__(self, station: Station, domain: str, edges: Mapping[str, Edge], exchange: Exchange | Flood) -> None:
        """``domain``: the own one."""
        self._domain = domain
        self._station, self._tables, self._exchange = station, station.tables, exchange
        self.hellos = Hellos(edges)

    def say(self, edge: Edge, own: BrokerAdvertisement, epoch: int) -> None:
        """Once in each session, and once to each neighbour that is new in the tree."""
        if not (edge.has_said or edge.is_quiet):
            sums = self._tables.held_from(edge.broker)
            edge.has_said = self._station.peers.send(edge.broker, Hello(own, epoch, *sums))

    def meet(self, edge: Edge) -> bool:
        """Whether the edge has become ready: both have said HELLO."""
        hello = self.hellos.get(edge.broker)
        if hello is None or not edge.has_said or edge.is_ready or edge.is_quiet:
            return False
        broker, is_new = edge.broker, not edge.is_connected
        if is_new:
            is_foreign = hello.broker.domain != self._domain
            self._tables.connect(broker, self._station.settings.exported if is_foreign else None)
            edge.is_connected = True
            self._station.log.append(NeighbourConnected(broker))
            if is_foreign:
                self._station.log.append(ForeignNeighbour(broker, hello.broker.domain))
        edge.is_ready = True
        edge.owes |= self._differing(edge, hello if self.hellos.read(broker) else None, is_new)
        self._exchange.begin(edge)
        return True

    def _differing(self, edge: Edge, hello: Hello | None, is_new: bool) -> set[Table]:
        """Which tables the neighbour has otherwise than they were sent to it. Without a new HELLO nothing was lost
        since the last one, unless all was forgotten here."""
        if hello is None:
            return set(Table) if is_new else set()
        subscriptions, registrations = self._tables.sent_to(edge.broker)
        differing = set()
        if hello.subscriptions != subscriptions:
            differing.add(Table.SUBSCRIPTIONS)
        if hello.registrations != registrations or (is_new and not self._tables.registrations.is_settled(edge.broker)):
            differing.add(Table.REGISTRATIONS)
        return differing
