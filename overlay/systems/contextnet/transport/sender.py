"""The sending side of a connection: messages that are not acknowledged. Counterpart: ``receiver``.

::

    queue ─ cut into parts of 1,147 bytes ─> under way ─ shown in sack ─ acknowledged
                                               │   ^
                                               └───┘ again: by the timer, or after three later transmissions arrived

It outlives its connection: resumed, the sequences go on; otherwise all messages are sent again as new DATA.
"""

from __future__ import annotations

from typing import Final

from overlay.core.node import NEVER
from overlay.systems.contextnet.transport.packets import LOW, MOST_FRAGMENTS, MOST_PART, Kind, write_data

LATER: Final = 3
"""Later transmissions that were acknowledged: then DATA counts as lost."""


class Outgoing:
    """A message. ``token`` is the user's. ``until``: from this instant on (``now``, ns) it is not to be begun."""

    __slots__ = ("data", "fragments", "kind", "token", "until")

    def __init__(self, kind: Kind, data: bytes, token: object, until: int = NEVER) -> None:
        self.kind, self.data, self.token, self.until = kind, data, token, until
        self.fragments = -(-len(data) // MOST_PART)
        if not 1 <= self.fragments <= MOST_FRAGMENTS:
            raise ValueError(f"a message has 1 to {MOST_PART * MOST_FRAGMENTS:,} bytes, not {len(data):,}")


class Flight:
    """One DATA under way."""

    __slots__ = ("fragment", "is_again", "is_lost", "is_shown", "later", "message", "order", "repeats")

    def __init__(self, message: Outgoing, fragment: int) -> None:
        self.message, self.fragment = message, fragment
        self.order = 0
        """Of its last transmission, among all of this connection; 0 before."""
        self.is_again = False
        """Whether it was transmitted more than once."""
        self.is_lost = False
        """Whether it waits to be repeated."""
        self.is_shown = False
        """In ``sack``: it is not repeated while the connection lasts."""
        self.later = 0
        """Later transmissions that were acknowledged."""
        self.repeats = 0
        """By the timer, that count."""

    @property
    def is_last(self) -> bool:
        return self.fragment + 1 == self.message.fragments

    def body(self, sequence: int) -> bytes:
        message, at = self.message, self.fragment * MOST_PART
        part = message.data[at : at + MOST_PART]
        return write_data(sequence, self.fragment, message.fragments, message.kind, part)


class Sender:
    __slots__ = ("_fragment", "_order", "_recovered", "acked", "flights", "queue", "under_way")

    def __init__(self) -> None:
        self.acked = 0
        """All sequences before it are acknowledged. On the wire it is modulo 2^32."""
        self.flights: list[Flight] = []
        """From sequence ``acked`` on."""
        self.queue: list[Outgoing] = []
        """Messages of which a part has no sequence yet. A list: an empty one has a tenth of the bytes of a deque."""
        self._fragment = 0
        """The next one of the first message of ``queue``."""
        self.under_way = 0
        """Flights that are neither shown nor lost: those that take room in the network."""
        self._order = 0
        self._recovered = 0
        """Losses of transmissions up to it have reduced the congestion window already."""

    @property
    def next(self) -> int:
        """The next sequence."""
        return self.acked + len(self.flights)

    def undelivered(self) -> list[Outgoing]:
        """All messages that are not acknowledged, in order."""
        found: list[Outgoing] = []
        for message in (*(flight.message for flight in self.flights), *self.queue):
            if not found or found[-1] is not message:
                found.append(message)
        return found

    # ---- a new connection

    def resume(self) -> None:
        """Under new keys the sequences go on: all that is not acknowledged is due again."""
        self._order = self._recovered = 0
        for flight in self.flights:
            flight.is_shown, flight.repeats, flight.order = False, 0, 0
        self.all_due()

    def restart(self) -> None:
        """Sequences from 0: all that is not acknowledged becomes new DATA."""
        self.queue = self.undelivered()
        self.flights.clear()
        self.acked = self._fragment = self.under_way = self._order = self._recovered = 0

    def all_due(self) -> None:
        """All that is not shown goes again: counts afresh."""
        self.under_way = 0
        for flight in self.flights:
            flight.is_lost = not flight.is_shown
            flight.later = flight.repeats = 0

    # ---- what goes out

    def lost(self) -> tuple[int, Flight] | None:
        """The first one that waits to be repeated, and its sequence."""
        for i, flight in enumerate(self.flights):
            if flight.is_lost:
                return self.acked + i, flight
        return None

    def take_expired(self, now: int) -> list[object]:
        """The tokens of the messages before the next one that may be sent. They have left the queue."""
        count = 0
        if not self._fragment:  # one that was begun is sent to its end
            while count < len(self.queue) and self.queue[count].until <= now:
                count += 1
        tokens = [message.token for message in self.queue[:count]]
        del self.queue[:count]
        return tokens

    def fresh(self) -> tuple[int, Flight]:
        """The next one for the first time. There is one: ``queue`` is not empty."""
        message = self.queue[0]
        flight = Flight(message, self._fragment)
        if flight.is_last:
            del self.queue[0]
            self._fragment = 0
        else:
            self._fragment += 1
        self.flights.append(flight)
        return self.next - 1, flight

    def oldest(self) -> tuple[int, Flight] | None:
        """The one that the timer repeats."""
        for i, flight in enumerate(self.flights):
            if not flight.is_shown:
                return self.acked + i, flight
        return None

    def transmitted(self, flight: Flight) -> None:
        self.under_way += flight.is_lost or not flight.order
        flight.is_again = flight.is_again or flight.order > 0 or flight.is_lost
        flight.is_lost = False
        flight.later = 0
        self._order += 1
        flight.order = self._order

    def timed_out(self) -> None:
        """All under way counts as lost."""
        for flight in self.flights:
            flight.is_lost = not flight.is_shown
        self.under_way = 0
        self._recovered = self._order

    # ---- what the peer says

    def nearest(self, ack: int) -> int | None:
        """The sequence of these low 32 bits within what is under way: an ``ack`` that may be believed or is old."""
        ahead = (ack - self.acked) & LOW
        if ahead <= len(self.flights):
            return self.acked + ahead
        return self.acked if ahead >= 1 << 31 else None

    def acknowledge(self, ack: int, sack: int) -> tuple[list[object], int, bool]:
        """``ack`` as ``nearest`` gave it; bit i of ``sack``: ``ack`` + i has arrived.

        Returns the tokens of the messages acknowledged, how many DATA are newly known to have arrived, and whether a
        loss was found that is to reduce the congestion window.
        """
        covered = ack - self.acked
        orders, news = [], 0
        for i, flight in enumerate(self.flights):
            if flight.is_shown or (i >= covered and not sack >> (i - covered) & 1):
                continue
            news += 1
            self.under_way -= not flight.is_lost
            flight.is_shown, flight.is_lost = True, False
            if not flight.is_again:
                orders.append(flight.order)
        tokens = [flight.message.token for flight in self.flights[:covered] if flight.is_last]
        del self.flights[:covered]
        self.acked = ack
        return tokens, news, self._find_lost(orders) if orders else False

    def _find_lost(self, orders: list[int]) -> bool:
        is_reduced = False
        for flight in self.flights:
            if flight.is_shown or flight.is_lost or not flight.order:
                continue
            flight.later += sum(order > flight.order for order in orders)
            if flight.later >= LATER:
                flight.is_lost = True
                self.under_way -= 1
                is_reduced = is_reduced or flight.order > self._recovered
        if is_reduced:
            self._recovered = self._order
        return is_reduced

    def check_invariants(self, window: int) -> None:
        assert len(self.flights) <= window
        assert self.under_way == sum(not flight.is_shown and not flight.is_lost for flight in self.flights)
        assert not any(flight.is_shown and flight.is_lost for flight in self.flights)
        assert bool(self._fragment) <= bool(self.queue)
