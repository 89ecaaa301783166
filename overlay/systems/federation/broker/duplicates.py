"""The ids of notifications that have passed, so that none is routed twice (seed 001, section 2)."""

from __future__ import annotations

from collections import deque

from overlay.core.node import SECOND
from overlay.systems.federation.wire.values import NotificationId

MOST_REMEMBERED = 65_536
REMEMBERED_FOR = 120 * SECOND


class Duplicates:
    """The newest 65,536 ids, each for 120 s."""

    def __init__(self) -> None:
        self._known: set[NotificationId] = set()
        self._order: deque[tuple[int, NotificationId]] = deque()
        """With the end of each."""

    def __len__(self) -> int:
        return len(self._known)

    def is_known(self, nid: NotificationId, now: int) -> bool:
        self._forget(now)
        return nid in self._known

    def is_new(self, nid: NotificationId, now: int) -> bool:
        """Whether it was not known. It is from now on."""
        order, known = self._order, self._known
        if order and order[0][0] <= now:
            self._forget(now)
        if nid in known:
            return False
        known.add(nid)
        order.append((now + REMEMBERED_FOR, nid))
        if len(order) > MOST_REMEMBERED:
            known.discard(order.popleft()[1])
        return True

    def check_invariants(self) -> None:
        """(I8). Raises ``AssertionError``."""
        assert len(self._known) == len(self._order) <= MOST_REMEMBERED

    def _forget(self, now: int) -> None:
        order = self._order
        while order and order[0][0] <= now:
            self._known.discard(order.popleft()[1])
