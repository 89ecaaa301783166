"""The ids of notifications that have passed, so that none is routed twice (seed 001, section 2)."""

from __future__ import annotations

from collections import deque
from typing import Final

from overlay.core.node import NEVER, SECOND
from overlay.systems.federation.wire.values import NotificationId

MOST_REMEMBERED: Final = 65_536
REMEMBERED_FOR: Final = 120 * SECOND


class Duplicates:
    """The newest 65,536 ids, each for 120 s."""

    def __init__(self) -> None:
        self._known: set[NotificationId] = set()
        self._order: deque[tuple[int, NotificationId]] = deque()
        """With the end of each."""
        self._first_end = NEVER
        """That of the oldest."""

    def __len__(self) -> int:
        return len(self._known)

    def is_new(self, nid: NotificationId, now: int) -> bool:
        """Whether it was not known. It is from now on."""
        if self._first_end <= now:
            self._forget(now)
        known = self._known
        before = len(known)
        known.add(nid)
        if len(known) == before:
            return False
        end = now + REMEMBERED_FOR
        self._order.append((end, nid))
        if end < self._first_end:
            self._first_end = end
        elif len(known) > MOST_REMEMBERED:
            known.discard(self._order.popleft()[1])
            self._first_end = self._order[0][0]
        return True

    def check_invariants(self) -> None:
        """(I8). Raises ``AssertionError``."""
        assert len(self._known) == len(self._order) <= MOST_REMEMBERED
        assert self._first_end == (self._order[0][0] if self._order else NEVER)

    def _forget(self, now: int) -> None:
        order = self._order
        while order and order[0][0] <= now:
            self._known.discard(order.popleft()[1])
        self._first_end = order[0][0] if order else NEVER
