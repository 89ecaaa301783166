"""The neighbours of a broker, suspected neighbours, and dropped ones.

Counterparts: ``joining`` adds and removes on orders and on messages of neighbours, ``pings`` and ``suspicion`` by
monitoring, ``departures`` on notices.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from overlay.core.addresses import Address


@dataclass(slots=True)
class Absence:
    """The next ping of a dropped neighbour and the following interval; monotonic nanoseconds."""

    next_ping: int
    gap: int


@dataclass(slots=True)
class Suspicion:
    """A neighbour that does not answer our pings, and the helpers asked about it."""

    rounds: int = 0
    """Rounds since the last answer to any broker."""
    spared: int = 0
    """Rounds in which it was not declared dead because of the self-check."""
    asked: dict[Address, int] = field(default_factory=dict)
    """Helpers whose answers count, with the timestamps of the requests."""


class Members:
    """Neighbours in order of arrival, and dropped ones. An address is in at most one of the two."""

    __slots__ = ("_address", "_capacity", "_neighbours", "dropped", "neighbours", "round_trip_ns", "suspects")

    def __init__(self, address: Address, capacity: int) -> None:
        self._address = address
        self._capacity = capacity
        self._neighbours: dict[Address, None] = {}
        self.neighbours: tuple[Address, ...] = ()
        self.suspects: dict[Address, Suspicion] = {}
        """Suspected neighbours, a subset of the neighbours."""
        self.dropped: dict[Address, Absence] = {}
        self.round_trip_ns = 0
        """The slowest round trip in the last round of pings; 0 without a measurement."""

    def __contains__(self, address: Address) -> bool:
        return address in self._neighbours

    def has_room_for(self, address: Address) -> bool:
        return address in self._neighbours or len(self._neighbours) < self._capacity

    def add(self, address: Address) -> None:
        """Add a new, known or dropped broker as a neighbour."""
        self._neighbours[address] = None
        self.suspects.pop(address, None)
        self.dropped.pop(address, None)
        self._changed()

    def drop(self, address: Address, absence: Absence) -> None:
        """Drop a neighbour until it answers. If there are too many dropped ones, the oldest is forgotten."""
        del self._neighbours[address]
        self.suspects.pop(address, None)
        self.dropped[address] = absence
        if len(self.dropped) > self._capacity:
            del self.dropped[next(iter(self.dropped))]
        self._changed()

    def forget(self, address: Address) -> bool:
        """Remove a neighbour or dropped one. Returns whether it was either."""
        known = address in self._neighbours or address in self.dropped
        self._neighbours.pop(address, None)
        self.suspects.pop(address, None)
        self.dropped.pop(address, None)
        self._changed()
        return known

    def clear(self) -> None:
        self._neighbours.clear()
        self.suspects.clear()
        self.dropped.clear()
        self._changed()

    def _changed(self) -> None:
        self.neighbours = tuple(self._neighbours)

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if the two sets overlap, exceed their limit or contain the broker itself."""
        assert self.neighbours == tuple(self._neighbours)
        assert not self._neighbours.keys() & self.dropped.keys()
        assert self.suspects.keys() <= self._neighbours.keys()
        assert len(self._neighbours) <= self._capacity
        assert len(self.dropped) <= self._capacity
        assert self._address not in self._neighbours
        assert self._address not in self.dropped
