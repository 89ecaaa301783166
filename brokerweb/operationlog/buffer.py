"""Entries that wait to be written. Pure."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from typing import NamedTuple

from brokerweb.operationlog.entries import Entry


class Taken(NamedTuple):
    """What waited."""

    entries: Sequence[Entry]
    lost: Counter[str]
    """Operations that found no room, by network."""


class Buffer:
    """Holds at most ``most`` entries, with answers of at most ``most_bytes``. Further ones are counted, not kept.

    ``add`` may run in one thread while ``take`` runs in another.
    """

    def __init__(self, most: int, most_bytes: int) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._waiting: deque[Entry] = deque()
        self._bytes = 0
        self._lost: Counter[str] = Counter()

    def add(self, entry: Entry) -> None:
        if len(self._waiting) >= self._most or self._bytes > self._most_bytes:
            self._lost[entry.network] += 1
            return
        self._bytes += len(entry.answer)
        self._waiting.append(entry)

    def take(self) -> Taken:
        """All that waits, and what was lost since the last time."""
        lost, self._lost = self._lost, Counter()
        self._bytes = 0  # before emptying: entries added meanwhile count at most twice
        waiting = self._waiting
        return Taken([waiting.popleft() for _ in range(len(waiting))], lost)

    def __len__(self) -> int:
        return len(self._waiting)
