"""Notifications that wait for a client that is away, in order: the newest so many (seed 002, section 7)."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

from overlay.systems.silbops.wire.messages import Notify


class Kept:
    def __init__(self, most: int) -> None:
        self._most = most
        self._notes: deque[Notify] = deque()

    def __len__(self) -> int:
        return len(self._notes)

    def add(self, note: Notify) -> Sequence[Notify]:
        """Returns what was dropped for it: the oldest, or itself if nothing is kept."""
        self._notes.append(note)
        return self._shrink()

    def put_first(self, several: Iterable[Notify]) -> Sequence[Notify]:
        """They are older than what is kept. What came twice is kept once. Returns the oldest, which were dropped."""
        known = {(one.publisher, one.number) for one in self._notes}
        fresh = [one for one in several if (one.publisher, one.number) not in known]
        self._notes.extendleft(reversed(fresh))
        return self._shrink()

    def drop_oldest(self) -> Notify:
        return self._notes.popleft()

    def take(self) -> tuple[Notify, ...]:
        """All; nothing is kept any more."""
        notes = tuple(self._notes)
        self._notes.clear()
        return notes

    def _shrink(self) -> Sequence[Notify]:
        return [self._notes.popleft() for _ in range(len(self._notes) - self._most)]
