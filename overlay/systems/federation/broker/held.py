"""Notifications that wait for a client: it is invalid, or has no session (seed 001, section 8)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from heapq import merge
from itertools import count
from typing import NamedTuple

from overlay.systems.federation.wire.messages import Notify
from overlay.systems.federation.wire.values import Priority

MOST_HELD = 1_000
"""Of one client."""


class Waiting(NamedTuple):
    message: Notify
    priority: int
    until: tuple[int, ...]
    """For each subscription that it satisfies, when that one expires (ms since 1970)."""

    def at(self, wall_ms: int) -> Waiting | None:
        """For the subscriptions that have not expired; ``None`` if all have."""
        if min(self.until) > wall_ms:
            return self
        message = self.message
        left = [(sid, end) for sid, end in zip(message.satisfied, self.until, strict=True) if end > wall_ms]
        if not left:
            return None
        sids, until = zip(*left, strict=True)
        return Waiting(Notify(message.notification, sids, message.is_cached, message.hops), self.priority, until)


class Held:
    """In order. The first to go are expired notifications, then the oldest of the lowest priority."""

    def __init__(self) -> None:
        self._queues: dict[int, deque[tuple[int, Waiting]]] = {int(one): deque() for one in Priority}
        """By priority, smallest first; each notification with its number."""
        self._numbers = count()

    def __len__(self) -> int:
        return sum(map(len, self._queues.values()))

    def add(self, one: Waiting, wall_ms: int) -> int:
        """Returns how many were dropped for it."""
        self._queues[one.priority].append((next(self._numbers), one))
        return self._shrink(wall_ms)

    def put_first(self, several: Iterable[Waiting], wall_ms: int) -> int:
        """Before all that is held; they are older. Returns how many were dropped."""
        everything = [*several, *self.take()]
        for one in everything:
            self._queues[one.priority].append((next(self._numbers), one))
        return self._shrink(wall_ms)

    def take(self) -> list[Waiting]:
        """All, in order; nothing is held any more."""
        everything = [one for _, one in merge(*self._queues.values())]
        for queue in self._queues.values():
            queue.clear()
        return everything

    def _shrink(self, wall_ms: int) -> int:
        dropped = 0
        while len(self) > MOST_HELD:
            dropped += self._drop_expired(wall_ms) or self._drop_oldest()
        return dropped

    def _drop_expired(self, wall_ms: int) -> int:
        """Of those at the heads of the queues: notifications expire about as they came."""
        dropped = 0
        for queue in self._queues.values():
            while queue and queue[0][1].message.notification.expires <= wall_ms:
                queue.popleft()
                dropped += 1
        return dropped

    def _drop_oldest(self) -> int:
        next(queue for queue in self._queues.values() if queue).popleft()
        return 1
