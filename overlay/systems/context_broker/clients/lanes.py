"""A client's ports. A lane is the number of a port. The driver opens it at first use and closes it on request.

Lane numbers increase and are never reused: a closed lane stays closed, so a late answer reaches no other exchange.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

from overlay.systems.context_broker.clients.exchange import Exchange

MAX_LANES = 64
"""Maximum open lanes of a client. If all are busy its next request waits, which is visible as its delay."""

E = TypeVar("E", bound=Exchange)


class Lanes(Generic[E]):
    """At most one exchange on each lane."""

    __slots__ = ("_busy", "_due", "_idle", "_limit", "_opened", "_to_close", "has_room")

    def __init__(self, limit: int = MAX_LANES) -> None:
        self._limit = limit
        self._busy: dict[int, E] = {}
        self._idle: list[int] = []
        self._opened = 0
        self._to_close: list[int] = []
        self._due: int | None = None
        self.has_room = limit > 0
        """Whether ``take`` may be called."""

    def take(self, exchange: E) -> int:
        """The lane of a new exchange: a clean one, or a new one."""
        if self._idle:
            lane = self._idle.pop()
        else:
            lane = self._opened
            self._opened += 1
        self._busy[lane] = exchange
        self.has_room = len(self._busy) < self._limit
        self.heed(exchange)
        return lane

    def heed(self, exchange: E) -> None:
        """Its timer may have moved to an earlier time. A later time needs no call."""
        due = exchange.next_timer()
        if self._due is None or (due is not None and due < self._due):
            self._due = due

    def release(self, lane: int) -> bool:
        """The exchange has ended: keep the lane if it is clean, otherwise close it.

        Returns whether there is something to do: a lane to close, or a free lane after all were busy.
        """
        had_room, self.has_room = self.has_room, True
        exchange = self._busy.pop(lane)
        if not self._busy:
            self._due, self._busy = None, {}  # an emptied dictionary would keep its size
        if exchange.is_clean:
            self._idle.append(lane)
            return not had_room
        self._to_close.append(lane)
        return True

    def exchange_on(self, lane: int) -> E | None:
        return self._busy.get(lane)

    def busy(self) -> Sequence[tuple[int, E]]:
        """A snapshot, so that lanes can be released while iterating."""
        return tuple(self._busy.items())

    def handle_timers(self, now: int) -> Sequence[tuple[int, E]]:
        """Call the timers that are due. Returns these exchanges with their lanes."""
        if self._due is None or self._due > now:
            return ()
        called = []
        for lane, exchange in self._busy.items():
            due = exchange.next_timer()
            if due is not None and due <= now:
                exchange.handle_timer(now)
                called.append((lane, exchange))
        timers = (exchange.next_timer() for exchange in self._busy.values())
        self._due = min((timer for timer in timers if timer is not None), default=None)
        return called

    def next_timer(self) -> int | None:
        """When to call ``handle_timers`` (ns). The call may be unnecessary, if the exchange has ended since. That
        happens about once a second; searching all lanes for the earliest timer would cost time after each datagram.
        """
        return self._due

    def to_close(self) -> Sequence[int]:
        """Lanes to close since the last call."""
        if not self._to_close:
            return ()
        closing, self._to_close = self._to_close, []
        return closing
