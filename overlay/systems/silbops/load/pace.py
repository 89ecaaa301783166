"""When a client acts: at a fixed interval with a drawn phase, or as fast as its broker takes it."""

from __future__ import annotations

from overlay.load.windows import Windows


class Pace:
    """``interval`` and ``phase`` in ns; ``count``: as fast as possible, so many in all. Nothing is due after the end of
    measuring."""

    def __init__(self, windows: Windows, interval: int, phase: int, count: int | None = None) -> None:
        self._end, self._interval, self._left = windows.end, interval, count
        self._next = windows.measuring + (phase if count is None else 0)

    @property
    def is_done(self) -> bool:
        return self._left == 0 or self._next >= self._end

    def next_due(self, has_room: bool) -> int | None:
        """``has_room``: whether its broker takes the next one now."""
        if self.is_done or not (has_room or self._left is None):
            return None
        return self._next

    def take(self, now: int) -> int:
        """One is done. Returns when it was due."""
        if self._left is None:
            due, self._next = self._next, self._next + self._interval
            return due
        self._left -= 1
        self._next = max(self._next, now)
        return self._next

    def stop(self) -> None:
        self._left = 0
