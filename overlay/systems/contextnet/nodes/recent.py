"""Ids that were seen recently."""

from __future__ import annotations

from overlay.core.node import SECOND


class Recent:
    def __init__(self, most: int, keep_s: int) -> None:
        """The newest ``most``, each for ``keep_s``."""
        self._most, self._keep = most, keep_s * SECOND
        self._seen: dict[bytes, int] = {}
        """When each was seen, the oldest first."""

    def add(self, id: bytes, now: int) -> bool:
        """Whether it is new."""
        if not self._most:
            return True
        seen, keep = self._seen, self._keep
        at = seen.get(id)
        if at is not None and now - at < keep:
            return False
        seen.pop(id, None)
        seen[id] = now
        while len(seen) > self._most or now - next(iter(seen.values())) >= keep:
            del seen[next(iter(seen))]
        return True
