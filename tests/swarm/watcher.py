"""What all watchers share: they hear what brokers read, what brokers say, and when one has stepped."""

from __future__ import annotations

from collections.abc import Sequence

from overlay.core.addresses import Address
from overlay.sim.actors import NodeActor
from overlay.sim.simulator import WALL_OFFSET_NS, Actor
from overlay.sim.world import server_address
from overlay.systems.context_broker.broker.broker import Broker
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.broker.station import Chances
from overlay.systems.contract import System
from overlay.systems.roles import Place
from telemetry.systems.context_broker.lab.overlay import Overlay


class Reader(Broker):
    """A broker that watchers hear read: one that is busy, or stopped, reads later than a datagram arrives."""

    watchers: list[Watcher]

    def receive_datagrams(self, datagrams: Sequence[tuple[bytes, Address]], now: int) -> None:
        for data, source in datagrams:
            for watcher in self.watchers:
                watcher.heard(now, data, source, self.address)
        super().receive_datagrams(datagrams, now)


class Readers:
    """Makes the brokers of an overlay that is watched. With ``scans``, linear tables are really scanned."""

    def __init__(self, *, scans: bool = False) -> None:
        self.watchers: list[Watcher] = []
        self._scans = scans

    def __call__(self, system: System, config: BrokerConfig, place: Place, seed: int) -> Reader:
        reader = Reader(config, place.address, Chances.streams(seed), WALL_OFFSET_NS)
        reader.watchers = self.watchers
        if not self._scans:
            reader.spare_scans()
        return reader


class Watcher:
    """Attach before the overlay starts."""

    def __init__(self, overlay: Overlay, readers: Readers | None = None) -> None:
        """Without ``readers`` a broker reads what arrives when it arrives."""
        self.overlay = overlay
        self.brokers = {server_address(i): i for i in range(overlay.graph.brokers)}
        if readers:
            readers.watchers.append(self)
        else:
            overlay.simulator.on_delivered.append(self._delivered)
        overlay.simulator.on_sent.append(self._sent)
        overlay.simulator.on_stepped.append(self._stepped)

    def heard(self, now: int, data: bytes, source: Address, broker: Address) -> None:
        """A broker is about to read it."""

    def said(self, now: int, data: bytes, broker: Address, to: Address) -> None:
        """A broker sends it, and has finished the step in which it does so."""

    def stepped(self, now: int, actor: NodeActor, broker: Broker) -> None:
        """It has done all that is to be done now."""

    def actor(self, broker: Address) -> NodeActor:
        """That broker as it is now: one that was started again is another one."""
        index = self.brokers[broker]
        return self.overlay.brokers.get(index) or self.overlay.leaving[index]

    def _delivered(self, now: int, data: bytes, source: Address, to: Address) -> None:
        if to in self.brokers:
            self.heard(now, data, source, to)

    def _sent(self, _: int, data: bytes, source: Address, to: Address) -> None:
        """When it leaves is no matter: a broker that takes its time has said it when that began."""
        if source in self.brokers:
            self.said(self.overlay.simulator.now, data, source, to)

    def _stepped(self, now: int, actor: Actor) -> None:
        if isinstance(actor, NodeActor) and isinstance(actor.node, Broker):
            self.stepped(now, actor, actor.node)
