"""Header timestamps of updates that never run backwards.

Of two updates of one provider about the same entity the later timestamp wins, and of two equal ones the first
(wire-protocol section 3). Two updates within one millisecond need different ones, whatever ports they leave from.
"""

from __future__ import annotations

from overlay.core.node import MILLISECOND
from overlay.systems.context_broker.clients.exchange import SameStamp, Timestamps, WallClock
from overlay.systems.context_broker.wire.messages import Key

MOST_KEPT = 4096
"""When there are more, those that the clock has passed are dropped, which nothing needs any more."""

Entry = tuple[str, Key]
"""Provider and entity."""


class EntryStamps:
    """The last timestamp of each entry that was updated within the current millisecond or ahead of the clock."""

    def __init__(self, wall: WallClock) -> None:
        self._wall = wall
        self._last: dict[Entry, int] = {}

    def next(self, entry: Entry, now: int, least: int = 0) -> int:
        """Unix milliseconds, ``least`` or more."""
        current = (now + self._wall.offset_ns) // MILLISECOND
        stamp = max(current, self._last.get(entry, 0) + 1, least)
        if len(self._last) >= MOST_KEPT:
            self._last = {known: last for known, last in self._last.items() if last >= current}
        self._last[entry] = stamp
        return stamp

    def of(self, entry: Entry) -> StampsOfEntry:
        """For one update."""
        return StampsOfEntry(self, entry, self._wall)


class GivenStamp(SameStamp):
    """The timestamp of a value that comes from elsewhere, and its ValidBegin."""

    __slots__ = ("_begin",)

    def __init__(self, stamp: int, begin: int) -> None:
        super().__init__(stamp)
        self._begin = begin

    def begin_of(self, stamp: int) -> int:
        """Unix milliseconds."""
        return self._begin


class StampsOfEntry(Timestamps):
    """Those of one update, however often it is sent."""

    __slots__ = ("_entry", "_now_ms", "_stamps")

    def __init__(self, stamps: EntryStamps, entry: Entry, wall: WallClock) -> None:
        super().__init__(wall)
        self._stamps = stamps
        self._entry = entry
        self._now_ms = 0

    def next(self, now: int) -> int:
        self._now_ms = (now + self._wall.offset_ns) // MILLISECOND
        return self._stamps.next(self._entry, now)

    def begin_of(self, stamp: int) -> int:
        """Unix milliseconds: not ahead of the clock, or the data would not be valid yet."""
        return min(stamp, self._now_ms)
