"""Gives a broker's entries to its neighbours before it leaves an unstructured network, by the updates (2) of providers.

A controller's leave (7) names no successor, so in the seed the entries of a broker that leaves are lost, but for
replicas. Here each entry goes to one neighbour, with its provider, validity and timestamp, so that a newer value of the
same provider wins as always. One update per neighbour is outstanding, since an ACK names no entry, and they take turns.
An entry that a neighbour refuses (NACK 201, a full table) is offered to the next one. Updates that arrive meanwhile are
given too, until the process ends. Replicas are not given, as another broker has the original.

Counterparts: ``storing`` notes updates that arrive; ``structured.handover`` does this for the structured network.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

from overlay.core.addresses import Address
from overlay.core.node import MILLISECOND
from overlay.systems.context_broker.broker.entries import Entry, Replica
from overlay.systems.context_broker.broker.station import Station
from overlay.systems.context_broker.wire.messages import ContextUpdateAdvertisement, Status, key_of
from overlay.systems.context_broker.wire.table import OPERATIONS

UPDATE = OPERATIONS[2]
GAP = 300 * MILLISECOND
"""From an update to its repetition."""
ASKS = 4
"""After this many the neighbour is given nothing more."""


@dataclass(slots=True, eq=False)
class Offer:
    """An entry to be given, and the neighbours that may still take it."""

    entry: Entry
    takers: set[Address]


@dataclass(slots=True)
class Asked:
    """An offer to one neighbour that has not answered yet. Monotonic nanoseconds."""

    offer: Offer
    again: int
    asks: int = 1


class Giving:
    """``neighbours`` take what is given."""

    __slots__ = ("_asked", "_free", "_offers", "_station", "given", "lost")

    def __init__(self, station: Station, neighbours: Iterable[Address]) -> None:
        self._station = station
        self._offers: deque[Offer] = deque()
        self._asked: dict[Address, Asked] = {}
        self._free: dict[Address, None] = dict.fromkeys(neighbours)
        """Neighbours without an outstanding update."""
        self.given = 0
        self.lost = 0
        """Entries that no neighbour has taken."""

    def __len__(self) -> int:
        """How many entries are to be given."""
        return len(self._offers) + len(self._asked)

    def note(self, entry: Entry, now: int) -> None:
        """Give an entry of the table, which has just been stored or was there before.

        Not a withdrawal: whoever withdraws sends it to every broker.
        """
        if not (isinstance(entry, Replica) or entry.is_withdrawn):
            self._offers.append(Offer(entry, {*self._free, *self._asked}))
            self._go_on(now)

    def accept(self, source: Address, operation: str, status: int, now: int) -> bool:
        """Whether an ACK or NACK is the answer to one of our updates."""
        if source not in self._asked or operation != UPDATE:
            return False
        if status != Status.REQ_RECEIVED:
            self._end(source, now, is_taken=status == Status.REQ_PROCESSED)
        return True

    def handle_timer(self, now: int) -> None:
        for taker, asked in list(self._asked.items()):
            if asked.again > now:
                continue
            if asked.asks == ASKS:
                self._end(taker, now, is_taken=False, is_free=False)
            else:
                asked.asks, asked.again = asked.asks + 1, now + GAP
                self._send(asked.offer.entry, taker, now)

    def next_timer(self) -> int | None:
        return min((asked.again for asked in self._asked.values()), default=None)

    def _end(self, taker: Address, now: int, *, is_taken: bool, is_free: bool = True) -> None:
        offer = self._asked.pop(taker).offer
        if is_free:
            self._free[taker] = None
        if is_taken:
            self.given += 1
        else:
            offer.takers.discard(taker)
            self._offers.append(offer)
        self._go_on(now)

    def _go_on(self, now: int) -> None:
        """Offer what is left to neighbours that are free. What no neighbour may take any more is lost."""
        wall_ms = self._station.wall_ms(now)
        for _ in range(len(self._offers)):
            offer = self._offers.popleft()
            offer.takers &= {*self._free, *self._asked}
            if offer.entry.valid_end <= wall_ms:
                continue
            if not offer.takers:
                self.lost += 1
                continue
            taker = next((free for free in self._free if free in offer.takers), None)
            if taker is None:
                self._offers.append(offer)
                if not self._free:
                    return
                continue
            del self._free[taker]
            self._asked[taker] = Asked(offer, now + GAP)
            self._send(offer.entry, taker, now)

    def _send(self, entry: Entry, taker: Address, now: int) -> None:
        update = ContextUpdateAdvertisement(
            entry.timestamp, "U", entry.provider, *key_of(entry.key), entry.valid_begin, entry.valid_end, entry.payload
        )
        self._station.send_message(update, taker, now, exempt=True)

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if a neighbour is free and asked."""
        assert not self._free.keys() & self._asked.keys()
