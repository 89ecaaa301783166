"""A client's ports. A lane is the name of one port; the driver opens it when it first sees it and closes it when told.

Lanes count up and never come back: a closed one stays closed, so that a late answer to it finds nobody.
"""

from __future__ import annotations

from collections.abc import Iterator

from overlay.clients.exchange import Exchange

MAX_LANES = 64
"""Open lanes of one client. With all of them busy its next request waits, and its lateness shows."""


class Lanes:
    """At most one exchange on each lane."""

    def __init__(self, limit: int = MAX_LANES) -> None:
        self._limit = limit
        self._busy: dict[int, Exchange] = {}
        self._idle: list[int] = []
        self._opened = 0
        self._to_close: list[int] = []

    @property
    def has_room(self) -> bool:
        """Whether ``take`` may be called."""
        return len(self._busy) < self._limit

    def take(self, exchange: Exchange) -> int:
        """The lane of a new exchange: one left clean, or a fresh one."""
        if self._idle:
            lane = self._idle.pop()
        else:
            lane = self._opened
            self._opened += 1
        self._busy[lane] = exchange
        return lane

    def release(self, lane: int) -> None:
        """Its exchange is over: keep the lane where it is clean, else have it closed."""
        exchange = self._busy.pop(lane)
        (self._idle if exchange.is_clean else self._to_close).append(lane)

    def exchange_on(self, lane: int) -> Exchange | None:
        return self._busy.get(lane)

    def busy(self) -> Iterator[tuple[int, Exchange]]:
        """A snapshot: releasing while looking is allowed."""
        return iter(tuple(self._busy.items()))

    def next_timer(self) -> int | None:
        """The earliest time at which an exchange wants to be called (ns)."""
        due = [timer for exchange in self._busy.values() if (timer := exchange.next_timer()) is not None]
        return min(due) if due else None

    def to_close(self) -> list[int]:
        """Lanes to close since the last call."""
        closing, self._to_close = self._to_close, []
        return closing
