"""A client's ports. A lane is the name of one port; the driver opens it when it first sees it and closes it when told.

Lanes count up and never come back: a closed one stays closed, so that a late answer to it finds nobody.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

from overlay.systems.context_broker.clients.exchange import Exchange

MAX_LANES = 64
"""Open lanes of one client. With all of them busy its next request waits, and its lateness shows."""

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
        """The lane of a new exchange: one left clean, or a fresh one."""
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
        """Its timer may have changed: to earlier, that is, for what was put off is noticed in time."""
        due = exchange.next_timer()
        if self._due is None or (due is not None and due < self._due):
            self._due = due

    def release(self, lane: int) -> bool:
        """Its exchange is over: keep the lane where it is clean, else have it closed.

        Whether that leads to anything at once: a lane to close, or room where there was none.
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
        """A snapshot: releasing while looking is allowed."""
        return tuple(self._busy.items())

    def handle_timers(self, now: int) -> Sequence[tuple[int, E]]:
        """Call the exchanges that wanted it by now, and return them with their lanes, for a look at each."""
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
        """When to call ``handle_timers`` (ns). It may be to no use, as an exchange that wanted it has ended since: that
        happens once a second, where looking through all lanes for the earliest would cost after each datagram.
        """
        return self._due

    def to_close(self) -> Sequence[int]:
        """Lanes to close since the last call."""
        if not self._to_close:
            return ()
        closing, self._to_close = self._to_close, []
        return closing
