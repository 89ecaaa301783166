"""Edges of an earlier tree: they carry notifications until the present ones are connected (details, section 2)."""

from __future__ import annotations

from collections.abc import Iterator

from overlay.core.node import SECOND
from overlay.systems.federation.broker.edges import Edge
from overlay.systems.federation.broker.station import Clock, Station


class OldEdges:
    """What came over them still gets notifications until ``release``, or until their deadline. Notifications are taken
    from them until then in any case: other brokers may learn of the tree later."""

    def __init__(self, station: Station) -> None:
        self._station, self._tables = station, station.tables
        self._give_up = round(station.settings.give_up_s * SECOND)
        self._of: dict[str, Edge] = {}

    def __len__(self) -> int:
        return len(self._of)

    def __iter__(self) -> Iterator[str]:
        return iter(self._of)

    def __contains__(self, broker: str) -> bool:
        return broker in self._of

    def add(self, edge: Edge) -> None:
        """It is told nothing any more."""
        edge.is_current = edge.is_ready = False
        if edge.is_connected:
            self._tables.retire(edge.broker)
            edge.is_connected, edge.has_entries = False, True
        self._of[edge.broker] = edge
        self._station.cancel(Clock.STORE, edge.broker)
        self._station.set_timer(Clock.EDGE, edge.broker, self._station.now + self._give_up)

    def release(self) -> None:
        """The present edges are connected."""
        for edge in self._of.values():
            self._drop_entries(edge)

    def remove(self, edge: Edge) -> None:
        """Nothing changes if it is none."""
        self._drop_entries(edge)
        self._of.pop(edge.broker, None)
        self._station.cancel(Clock.EDGE, edge.broker)

    def _drop_entries(self, edge: Edge) -> None:
        if edge.has_entries:
            edge.has_entries = False
            self._tables.drop(edge.broker)
