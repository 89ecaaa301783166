"""The fast path of one broker: hits and lanes, composed.

Counterpart: ``broker.broker``, which is composed with it, hands it every batch and gets back what it does not know.
"""

from __future__ import annotations

from overlay.systems.context_broker.broker.joining import Joining
from overlay.systems.context_broker.broker.members import Members
from overlay.systems.context_broker.broker.searching import Searching
from overlay.systems.context_broker.broker.station import Station
from overlay.systems.context_broker.broker.storing import Storing
from overlay.systems.context_broker.fast.hits import Hits, Note, Otherwise
from overlay.systems.context_broker.fast.lanes import Lanes


class FastPath:
    __slots__ = ("_hits", "_parts", "lanes", "take")

    def __init__(
        self,
        station: Station,
        members: Members,
        joining: Joining,
        searching: Searching,
        storing: Storing,
        note: Note,
        otherwise: Otherwise,
    ) -> None:
        self._parts = Lanes(station, members, joining, searching, storing)
        self._hits = Hits(station, searching.pending, storing.table.index, self._parts, note, otherwise)
        self.take = self._hits.take
        """Takes a batch of datagrams."""
        self.lanes = self._parts.by_head()
        """By the first two bytes of a datagram."""

    def add_to(self, counters: dict[str, int]) -> None:
        """Add what was counted here to all counters of a broker."""
        self._hits.add_to(counters)
        self._parts.add_to(counters)
