"""FORWARD over the edges of the tree, and what waits for neighbours without a session."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from overlay.messages.errors import BadMessage
from overlay.systems.federation.broker.edges import Edge
from overlay.systems.federation.broker.station import Station
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire.values import Notification, Priority, SubscriptionId


class Forwarding:
    """Counts ``stored`` and ``sent_again``, and ``dropped_stored``: without room, or at the end of an edge."""

    def __init__(self, station: Station, edges: dict[str, Edge]) -> None:
        self._peers, self._counters, self._edges = station.peers, station.counters, edges
        self._tracer = station.tracer

    def may_forward(self, broker: str) -> bool:
        """Whether FORWARD is taken from it: over a current edge or an old one. If not, it was counted."""
        if broker in self._edges:
            return True
        self._counters["dropped_no_edge"] += 1
        return False

    def forward(
        self,
        broker: str,
        notification: Notification,
        hops: int,
        path: tuple[str, ...],
        ended: tuple[SubscriptionId, ...],
        drop: int,
    ) -> None:
        """Send FORWARD, or store it while a neighbour has no session: it may have ended within this step."""
        edge = self._edges[broker]
        if edge.can_forward and self._peers.send(broker, m.Forward(notification, hops, path, ended), drop):
            self._trace("forwarded", broker, notification)
            return
        if edge.can_forward and self._peers.address(broker) is not None:  # too large, or being closed
            self._drop(1)
            return
        self._counters["stored"] += 1
        self._trace("stored", broker, notification)
        # The next HELLO tells what has ended, so FORWARD does not: between the two it could have come back.
        self._drop(edge.store.add(m.Forward(notification, hops, path), drop, self._peers.wall_ms))

    def take_back(self, edge: Edge, undelivered: Sequence[bytes]) -> None:
        """What a session has not delivered waits before all else."""
        returned = [(message, int(Priority.NORMAL)) for message in self._forwards(undelivered)]
        self._counters["stored"] += len(returned)
        for message, _ in returned:
            self._trace("returned", edge.broker, message.notification)
        self._drop(edge.store.put_first(returned, self._peers.wall_ms))

    def flush(self, edge: Edge) -> None:
        """The edge can carry what waits, in order."""
        edge.can_forward = True
        for stored in edge.store.take():
            if stored.message.notification.expires <= self._peers.wall_ms:
                self._drop(1)
            elif self._peers.send(edge.broker, stored.message, stored.priority):
                self._counters["sent_again"] += 1
                self._trace("sent later", edge.broker, stored.message.notification)
            elif self._peers.address(edge.broker) is None:
                self._drop(edge.store.add(stored.message, stored.priority, self._peers.wall_ms))
            else:
                self._drop(1)

    def clear(self, edge: Edge) -> None:
        self._drop(edge.store.clear())

    def _forwards(self, undelivered: Sequence[bytes]) -> list[m.Forward]:
        found = []
        for data in undelivered:
            try:
                message = self._peers.codec.parse(data)
            except BadMessage:
                continue
            if isinstance(message, m.Forward):
                found.append(replace(message, ended=()))
        return found

    def _trace(self, step: str, broker: str, notification: Notification) -> None:
        if self._tracer is not None:
            self._tracer.note(step, notification.id, broker, self._peers.now)

    def _drop(self, number: int) -> None:
        if number:
            self._counters["dropped_stored"] += number
