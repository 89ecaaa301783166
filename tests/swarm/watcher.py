"""What all watchers share: they hear what arrives at brokers, what brokers say, and when one has stepped."""

from overlay.addresses import Address
from overlay.broker.broker import Broker
from overlay.sim.actors import NodeActor
from overlay.sim.harness import Overlay, broker_address
from overlay.sim.simulator import Actor


class Watcher:
    """Attach before the overlay starts."""

    def __init__(self, overlay: Overlay) -> None:
        self.overlay = overlay
        self.brokers = {broker_address(i): i for i in range(overlay.graph.brokers)}
        self._unread: dict[NodeActor, list[tuple[bytes, Address, Address]]] = {}
        """What waits for a broker that is stopped."""
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
        if to not in self.brokers:
            return
        if self.brokers[to] in self.overlay.stopped:
            self._unread.setdefault(self.actor(to), []).append((data, source, to))
            return
        self._catch_up(now, to)
        self.heard(now, data, source, to)

    def _sent(self, now: int, data: bytes, source: Address, to: Address) -> None:
        if source in self.brokers:
            self._catch_up(now, source)
            self.said(now, data, source, to)

    def _stepped(self, now: int, actor: Actor) -> None:
        if isinstance(actor, NodeActor) and isinstance(actor.node, Broker):
            self._catch_up(now, actor.address)
            self.stepped(now, actor, actor.node)

    def _catch_up(self, now: int, broker: Address) -> None:
        """It has been resumed, and reads."""
        for datagram in self._unread.pop(self.actor(broker), ()) if self._unread else ():
            self.heard(now, *datagram)
