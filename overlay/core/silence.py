"""The duration of a peer's silence, counted only while the observer itself was running. Pure.

Used for leases and for monitoring of brokers. The observer may be stopped, or its machine may sleep. Time in which it
could not have received anything is not the peer's silence. The observer therefore looks often, and each look counts for
at most ``LOOK``: an observer that was stopped for an hour counts one second of it, and then receives what arrived
meanwhile.
"""

from __future__ import annotations

from overlay.core.node import SECOND

LOOK = SECOND
"""Longer than the interval between two looks of a running observer. Nanoseconds."""


class Silence:
    """The silence of a peer that was last heard at ``now``, the monotonic clock in nanoseconds."""

    __slots__ = ("_looked", "_silent")

    def __init__(self, now: int) -> None:
        self._looked = now
        self._silent = 0

    def hear(self, now: int) -> None:
        """They spoke."""
        self._looked, self._silent = now, 0

    def look(self, now: int) -> int:
        """The silence in nanoseconds. Call it at least once every ``LOOK``."""
        self._silent += min(now - self._looked, LOOK)
        self._looked = now
        return self._silent
