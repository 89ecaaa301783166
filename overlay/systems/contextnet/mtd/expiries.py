"""What expires when, by whole seconds: entries come and go in any order, at the same cost however many there are."""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import islice
from typing import Generic, TypeVar

from overlay.systems.contextnet.mtd.lifetimes import US

T = TypeVar("T")


class Expiries(Generic[T]):
    def __init__(self) -> None:
        self._by_second: dict[int, dict[T, None]] = {}
        self._seconds: list[int] = []
        """A heap of these, and of some that are empty by now."""

    def add(self, entry: T, expires_us: int) -> None:
        second = _second(expires_us)
        entries = self._by_second.get(second)
        if entries is None:
            entries = self._by_second[second] = {}
            heappush(self._seconds, second)
        entries[entry] = None

    def remove(self, entry: T, expires_us: int) -> None:
        second = _second(expires_us)
        entries = self._by_second[second]
        del entries[entry]
        if not entries:
            del self._by_second[second]

    def pop_due(self, now_us: int, most: int) -> list[T]:
        """At most so many that have expired, for up to a second already."""
        found: list[T] = []
        while self.is_due(now_us) and len(found) < most:
            second = self._seconds[0]
            entries = self._by_second[second]
            for entry in list(islice(entries, most - len(found))):
                del entries[entry]
                found.append(entry)
            if not entries:
                del self._by_second[second]
        return found

    def is_due(self, now_us: int) -> bool:
        first = self.first_s()
        return first is not None and first * US <= now_us

    def first_s(self) -> int | None:
        """The Unix second at which the next ones have expired."""
        seconds = self._seconds
        while seconds and seconds[0] not in self._by_second:
            heappop(seconds)
        return seconds[0] if seconds else None


def _second(expires_us: int) -> int:
    """Rounded up."""
    return -(-expires_us // US)
