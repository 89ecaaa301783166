"""The table that finds an entry by one dictionary look-up, and what every kind of table can do.

Counterparts: ``table`` has the rules; ``linear`` is the prototype's kind.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from overlay.systems.context_broker.broker.entries import Entry
from overlay.systems.context_broker.broker.linear import latest_valid
from overlay.systems.context_broker.wire.messages import RawKey


class Kind(Protocol):
    """A way to keep and search entries."""

    @property
    def compared(self) -> tuple[int, int]:
        """The number of entries compared by all scans since the start, and how many of them matched."""

    @property
    def index(self) -> Mapping[RawKey, Entry]:
        """The entry with the latest timestamp by key, a withdrawn one only if it is the only one; empty in a table
        that scans."""

    def get(self, key: RawKey, provider: str) -> Entry | None: ...
    def put(self, entry: Entry) -> None:
        """Insert ``entry``, or replace the entry of that key and provider, which has an earlier timestamp."""

    def remove(self, entry: Entry) -> None: ...
    def newest(self, key: RawKey, wall_ms: int) -> Entry | None: ...
    def __iter__(self) -> Iterator[Entry]: ...


class Indexed:
    """A request takes one dictionary look-up, independent of the table's size."""

    __slots__ = ("_several", "index")

    compared = (0, 0)

    def __init__(self) -> None:
        self.index: dict[RawKey, Entry] = {}
        self._several: dict[RawKey, dict[str, Entry]] = {}
        """For keys with more than one provider: all entries, by provider."""

    def get(self, key: RawKey, provider: str) -> Entry | None:
        newest = self.index.get(key)
        if newest is None or newest.provider == provider:
            return newest
        return self._several[key].get(provider) if key in self._several else None

    def put(self, entry: Entry) -> None:
        key, newest = entry.key, self.index.get(entry.key)
        if newest is None:
            self.index[key] = entry
            return
        if newest.provider != entry.provider or key in self._several:
            several = self._several.setdefault(key, {newest.provider: newest})
            several[entry.provider] = entry
            if entry.is_withdrawn or newest.is_withdrawn:
                self.index[key] = max(several.values(), key=_rank)
                return
        if newest.provider == entry.provider or entry.timestamp > newest.timestamp:
            self.index[key] = entry

    def remove(self, entry: Entry) -> None:
        key = entry.key
        several = self._several.get(key)
        if several is None:
            del self.index[key]
            return
        del several[entry.provider]
        if self.index[key] is entry:
            self.index[key] = max(several.values(), key=_rank)
        if len(several) == 1:
            del self._several[key]

    def newest(self, key: RawKey, wall_ms: int) -> Entry | None:
        newest = self.index.get(key)
        if newest is None or newest.is_valid(wall_ms):
            return newest
        return latest_valid(self._several.get(key, {}).values(), wall_ms)

    def __iter__(self) -> Iterator[Entry]:
        for key, newest in self.index.items():
            if key in self._several:
                yield from self._several[key].values()
            else:
                yield newest


def _rank(entry: Entry) -> tuple[bool, int]:
    """Withdrawn ones last: what they left to other providers is found at once."""
    return not entry.is_withdrawn, entry.timestamp
