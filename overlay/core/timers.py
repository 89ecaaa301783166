"""Deadlines by key, in one heap."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from heapq import heapify, heappop, heappush
from itertools import count
from typing import Any


class Timers:
    """At most one deadline (ns) per key. Replaced deadlines stay in the heap until they are popped or swept."""

    def __init__(self) -> None:
        self._at: dict[Hashable, tuple[int, int, Any]] = {}
        """The entry of each key in the heap."""
        self._heap: list[tuple[int, int, Any]] = []
        self._order = count()

    def __len__(self) -> int:
        return len(self._at)

    def __contains__(self, key: Hashable) -> bool:
        return key in self._at

    def __iter__(self) -> Iterator[Any]:
        return iter(self._at)

    def set(self, key: Hashable, at: int) -> None:
        entry = self._at[key] = at, next(self._order), key
        heappush(self._heap, entry)
        if len(self._heap) > 64 + 4 * len(self._at):
            self._heap = list(self._at.values())
            heapify(self._heap)

    def cancel(self, key: Hashable) -> None:
        self._at.pop(key, None)

    def get(self, key: Hashable) -> int | None:
        """The deadline of a key; ``None`` if it has none."""
        entry = self._at.get(key)
        return None if entry is None else entry[0]

    def next_timer(self) -> int | None:
        heap = self._heap
        while heap:
            entry = heap[0]
            current = self._at.get(entry[2])
            if current is not None and current[1] == entry[1]:
                return entry[0]
            heappop(heap)
        return None

    def is_due(self, now: int) -> bool:
        """Whether any deadline may have come."""
        return bool(self._heap) and self._heap[0][0] <= now

    def due(self, now: int) -> Iterator[Any]:
        """Keys whose deadline has come, in order; each is removed before it is given."""
        return self._due(now) if self.is_due(now) else iter(())

    def _due(self, now: int) -> Iterator[Any]:
        while (at := self.next_timer()) is not None and at <= now:
            key = heappop(self._heap)[2]
            del self._at[key]
            yield key


def sooner(one: int | None, other: int | None) -> int | None:
    """As ``earliest`` of two, which is asked after each datagram."""
    if one is None or other is None:
        return one if other is None else other
    return one if one < other else other


def earliest(*timers: int | None) -> int | None:
    first = None
    for timer in timers:
        if timer is not None and (first is None or timer < first):
            first = timer
    return first
