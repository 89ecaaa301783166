"""Notifications of one subscription on their way to its URL. Pure.

Sent in their order, several at once. What cannot be delivered is tried again after growing pauses, and given up in the
end. Without room the oldest is given up. Times are seconds of any clock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from math import inf

MOST, MOST_BYTES = 1_000, 4_000_000
"""That wait."""
MOST_AT_ONCE, MOST_BYTES_AT_ONCE = 100, 1_000_000
"""Of one request."""
PAUSES_S = (1.0, 2.0, 5.0, 15.0, 60.0)
"""After the first, second, … failed attempt; after the last one what was tried is given up."""


class Outbox:
    """``at_once``: the most of one request."""

    def __init__(self, at_once: int = MOST_AT_ONCE, most: int = MOST, most_bytes: int = MOST_BYTES) -> None:
        self.given_up = 0
        self._at_once, self._most, self._most_bytes = at_once, most, most_bytes
        self._waiting: deque[str] = deque()
        self._bytes = 0
        self._on_the_way = 0
        """The first of those that wait."""
        self._not_before = -inf
        self._attempts = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, text: str) -> None:
        self._waiting.append(text)
        self._bytes += len(text)
        while len(self._waiting) > self._most or (self._bytes > self._most_bytes and len(self._waiting) > 1):
            self._drop(1)

    def due(self) -> float:
        """When to take; infinite if nothing waits, or something is on its way."""
        return inf if self._on_the_way or not self._waiting else self._not_before

    def take(self) -> Sequence[str]:
        """What to send now; call ``ended`` then."""
        taken: list[str] = []
        size = 0
        for text in self._waiting:
            size += len(text)
            if len(taken) == self._at_once or (taken and size > MOST_BYTES_AT_ONCE):
                break
            taken.append(text)
        self._on_the_way = len(taken)
        return taken

    def ended(self, now: float, *, is_delivered: bool) -> None:
        """What was taken last has been delivered, or has not."""
        if is_delivered:
            self._remove(self._on_the_way)
            self._attempts, self._not_before = 0, -inf
        elif self._attempts >= len(PAUSES_S):
            self._drop(self._on_the_way)
            self._attempts, self._not_before = 0, -inf
        else:
            self._not_before = now + PAUSES_S[self._attempts]
            self._attempts += 1
        self._on_the_way = 0

    def _drop(self, count: int) -> None:
        self.given_up += count
        self._remove(count)

    def _remove(self, count: int) -> None:
        for _ in range(count):
            self._bytes -= len(self._waiting.popleft())
            self._on_the_way = max(0, self._on_the_way - 1)

    def check_invariants(self) -> None:
        """Raises ``AssertionError``."""
        assert len(self._waiting) <= self._most
        assert self._bytes == sum(map(len, self._waiting))
        assert 0 <= self._on_the_way <= len(self._waiting)
        assert self._bytes <= self._most_bytes or len(self._waiting) == 1
