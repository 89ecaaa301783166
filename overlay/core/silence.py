"""How long somebody has been silent, as far as whoever listens could have heard them. Pure.

A lease and the watch over brokers both ask this. The listener may be stopped itself, or its machine may sleep, and what
it missed then is nobody's silence. So it looks often, and no look counts for more than ``LOOK``: a listener that was
stopped for an hour counts one second of it, and then hears whoever spoke meanwhile.
"""

from __future__ import annotations

from overlay.core.node import SECOND

LOOK = SECOND
"""More than there is between two looks of a listener that works. Nanoseconds."""


class Silence:
    """Of one who was heard at ``now``, the monotonic clock in nanoseconds."""

    __slots__ = ("_looked", "_silent")

    def __init__(self, now: int) -> None:
        self._looked = now
        self._silent = 0

    def hear(self, now: int) -> None:
        """They spoke."""
        self._looked, self._silent = now, 0

    def look(self, now: int) -> int:
        """How long they have been silent, nanoseconds; to be asked at least once every ``LOOK``."""
        self._silent += min(now - self._looked, LOOK)
        self._looked = now
        return self._silent
