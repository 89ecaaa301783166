"""Who this broker's neighbours are, which of them are under suspicion, and who was one until it was taken for dead.

Counterparts: ``joining`` adds and removes on orders and on a neighbour's word, ``pings`` and ``suspicion`` on what
monitoring sees, ``departures`` on what others tell.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from overlay.core.addresses import Address


@dataclass(slots=True)
class Absence:
    """A dropped neighbour's next ping and the gap behind it; monotonic nanoseconds."""

    next_ping: int
    gap: int


@dataclass(slots=True)
class Suspicion:
    """A neighbour that does not answer our pings, and how others were asked about it."""

    rounds: int = 0
    """Begun since anybody had an answer from it."""
    spared: int = 0
    """Rounds in which it would have been declared dead, had we not doubted ourselves."""
    asked: dict[Address, int] = field(default_factory=dict)
    """Helpers whose answer would count, with the timestamp of their question."""


class Members:
    """Neighbours, in the order in which they came, and the dropped ones. An address is in one of them at most."""

    __slots__ = ("_address", "_capacity", "_neighbours", "dropped", "neighbours", "round_trip_ns", "suspects")

    def __init__(self, address: Address, capacity: int) -> None:
        self._address = address
        self._capacity = capacity
        self._neighbours: dict[Address, None] = {}
        self.neighbours: tuple[Address, ...] = ()
        self.suspects: dict[Address, Suspicion] = {}
        """Some of the neighbours."""
        self.dropped: dict[Address, Absence] = {}
        self.round_trip_ns = 0
        """Of the neighbour that took longest to answer the last round of pings; 0 where none has been timed."""

    def __contains__(self, address: Address) -> bool:
        return address in self._neighbours

    def has_room_for(self, address: Address) -> bool:
        return address in self._neighbours or len(self._neighbours) < self._capacity

    def add(self, address: Address) -> None:
        """A neighbour from now on, whether new, known or dropped before."""
        self._neighbours[address] = None
        self.suspects.pop(address, None)
        self.dropped.pop(address, None)
        self._changed()

    def drop(self, address: Address, absence: Absence) -> None:
        """No neighbour until it answers; of too many dropped ones, the longest gone is forgotten."""
        del self._neighbours[address]
        self.suspects.pop(address, None)
        self.dropped[address] = absence
        if len(self.dropped) > self._capacity:
            del self.dropped[next(iter(self.dropped))]
        self._changed()

    def forget(self, address: Address) -> bool:
        """Neither neighbour nor dropped; whether it was one of them."""
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
        """Raise ``AssertionError`` where the two sets overlap, outgrow their bound or hold ourselves."""
        assert self.neighbours == tuple(self._neighbours)
        assert not self._neighbours.keys() & self.dropped.keys()
        assert self.suspects.keys() <= self._neighbours.keys()
        assert len(self._neighbours) <= self._capacity
        assert len(self.dropped) <= self._capacity
        assert self._address not in self._neighbours
        assert self._address not in self.dropped
