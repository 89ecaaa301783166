"""The entities that one subscription is to be told of, when, and what became of it. Pure.

Of an entity that changes again before it is sent, the latest state is sent. What cannot be delivered is tried again
after growing pauses, with what has changed meanwhile, and given up in the end. Times are seconds of any clock.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from math import inf

MOST = 1_000
"""Entities that wait; the oldest are forgotten."""
MOST_AT_ONCE = 100
"""Of one notification."""
PAUSES_S = (1.0, 2.0, 5.0, 15.0)
"""After the first, second, … failed attempt; after the last one what waits is given up."""

EntityKey = tuple[str, str]


class Outbox:
    """Of one subscription."""

    def __init__(self, most: int = MOST) -> None:
        self.forgotten = 0
        """Entities that were not sent, since there was no room or the last attempt failed."""
        self._most = most
        self._waiting: OrderedDict[EntityKey, None] = OrderedDict()
        self._on_the_way: Sequence[EntityKey] = ()
        self._not_before = -inf
        self._attempts = 0

    def __len__(self) -> int:
        return len(self._waiting)

    def add(self, place: EntityKey) -> None:
        self._waiting[place] = None
        if len(self._waiting) > self._most:
            self._waiting.popitem(last=False)
            self.forgotten += 1

    def due(self) -> float:
        """When to take; infinite if nothing waits, or something is on its way."""
        return inf if self._on_the_way or not self._waiting else self._not_before

    def take(self) -> Sequence[EntityKey]:
        """What to send now; call ``ended`` then."""
        self._on_the_way = list(self._waiting)[:MOST_AT_ONCE]
        for place in self._on_the_way:
            del self._waiting[place]
        return self._on_the_way

    def ended(self, now: float, throttling_s: float, *, is_delivered: bool) -> None:
        places, self._on_the_way = self._on_the_way, ()
        if is_delivered:
            self._attempts, self._not_before = 0, now + throttling_s
            return
        self._attempts += 1
        if self._attempts > len(PAUSES_S):
            self.forgotten += len(places)
            self._attempts, self._not_before = 0, now + max(throttling_s, PAUSES_S[-1])
            return
        for place in reversed(places):
            self._waiting.setdefault(place, None)
            self._waiting.move_to_end(place, last=False)
        while len(self._waiting) > self._most:
            self._waiting.popitem(last=False)
            self.forgotten += 1
        self._not_before = now + max(throttling_s, PAUSES_S[self._attempts - 1])

    def nothing_to_send(self) -> None:
        """What was taken is no longer there."""
        self._on_the_way = ()
