"""Notifications that wait for a neighbour without a session: a mobile one is away, or one has just been lost."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from heapq import heapify, heappop, heappush, merge
from typing import NamedTuple

from overlay.systems.federation.wire.messages import Forward
from overlay.systems.federation.wire.notes import encoded
from overlay.systems.federation.wire.values import Priority

MOST_STORED = 1_000
MOST_STORED_BYTES = 1 << 20
_OTHER_BYTES = 16
"""Of a message without its notification and path."""


class Stored(NamedTuple):
    number: int
    message: Forward
    priority: int
    size: int


class Store:
    """In order. The first to go are expired notifications, then the oldest of the lowest priority."""

    def __init__(self) -> None:
        self._queues: dict[int, deque[Stored]] = {int(one): deque() for one in Priority}
        """By priority, lowest first."""
        self._expiry: list[tuple[int, int, int]] = []
        """A heap: when each expires (ms since 1970), its number and priority. Those that went are still in it."""
        self._next = 0
        self._number = 0
        self.bytes = 0

    def __len__(self) -> int:
        return self._number

    def add(self, message: Forward, priority: int, wall_ms: int) -> int:
        """Returns how many were dropped for it."""
        size = len(encoded(message.notification)) + sum(map(len, message.path)) + _OTHER_BYTES
        self._queues[priority].append(Stored(self._next, message, priority, size))
        heappush(self._expiry, (message.notification.expires, self._next, priority))
        self._next += 1
        self._number += 1
        self.bytes += size
        dropped = 0
        while self._number > MOST_STORED or self.bytes > MOST_STORED_BYTES:
            dropped += self._drop_expired(wall_ms) or self._drop_oldest()
        return dropped

    def put_first(self, several: Iterable[tuple[Forward, int]], wall_ms: int) -> int:
        """Before all that is stored; they are older. Returns how many were dropped."""
        later = [(one.message, one.priority) for one in self.take()]
        return sum(self.add(message, priority, wall_ms) for message, priority in [*several, *later])

    def take(self) -> list[Stored]:
        """All, in order; nothing is stored any more."""
        everything = list(merge(*self._queues.values()))
        self.clear()
        return everything

    def clear(self) -> int:
        """Returns how many were dropped."""
        dropped, self._number, self.bytes = self._number, 0, 0
        self._expiry.clear()
        for queue in self._queues.values():
            queue.clear()
        return dropped

    def check_invariants(self) -> None:
        """(I8). Raises ``AssertionError``."""
        stored = [one for queue in self._queues.values() for one in queue]
        assert len(stored) == self._number <= MOST_STORED
        assert sum(one.size for one in stored) == self.bytes <= MOST_STORED_BYTES
        assert len(self._expiry) <= 2 * MOST_STORED
        assert {(one.number, one.priority) for one in stored} <= {(number, of) for _, number, of in self._expiry}

    # ---- inner

    def _drop_expired(self, wall_ms: int) -> int:
        expired: set[int] = set()
        while self._expiry and self._expiry[0][0] <= wall_ms:
            expired.add(heappop(self._expiry)[1])
        before = self._number
        for priority, queue in list(self._queues.items()) if expired else ():
            self._queues[priority] = deque([one for one in queue if one.number not in expired])
            for one in queue:
                if one.number in expired:
                    self._forget(one)
        return before - self._number

    def _drop_oldest(self) -> int:
        self._forget(next(queue for queue in self._queues.values() if queue).popleft())
        if len(self._expiry) > 2 * MOST_STORED - 1:
            self._sweep()
        return 1

    def _forget(self, one: Stored) -> None:
        self._number -= 1
        self.bytes -= one.size

    def _sweep(self) -> None:
        """Of the heap, those that went."""
        self._expiry = [
            (one.message.notification.expires, one.number, one.priority)
            for queue in self._queues.values()
            for one in queue
        ]
        heapify(self._expiry)
