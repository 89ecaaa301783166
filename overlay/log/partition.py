"""The records of one partition, in memory: bounded, dropped by age, or the newest of each key."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from overlay.log.topics import Record, Topic

MOST_STALE = 1_024
"""Dropped records that a list may keep at its begin, and replaced ones of a compacted topic, next to as many others."""
POSITIONS_PER_MS = 1 << 20


class Partition:
    """Positions are Unix milliseconds × 2²⁰ + a number, as those of Valkey are here, so that they have gaps."""

    def __init__(self, topic: Topic, number: int, most: int) -> None:
        self.end = 0
        """The position after the last record; 0: there was none."""
        self.last_us = 0
        """When that was appended, Unix microseconds."""
        self.dropped = 0
        """Records dropped because they were too many or too old."""
        self._topic, self._number, self._most = topic, number, most
        self._records: list[Record] = []
        self._positions: list[int] = []
        self._first = 0
        """The index of the first record that is kept."""
        self._newest: dict[bytes, int] = {}
        """Of a compacted topic, by key."""

    @property
    def is_empty(self) -> bool:
        return not len(self)

    def __len__(self) -> int:
        return len(self._newest) if self._topic.is_compacted else len(self._records) - self._first

    def append(self, key: bytes, value: bytes, now_us: int, oldest_us: int) -> Record:
        """``now_us``: Unix microseconds; records before ``oldest_us`` are dropped."""
        position = max(self.end, now_us // 1_000 * POSITIONS_PER_MS)
        record = Record(self._topic.name, self._number, position, key, value, now_us)
        self._records.append(record)
        self._positions.append(position)
        self.end, self.last_us = position + 1, now_us
        if self._topic.is_compacted:
            self._replace(key, position)
        else:
            self.drop(oldest_us)
        return record

    def drop(self, oldest_us: int) -> None:
        """Records before ``oldest_us``, Unix microseconds, unless it is compacted."""
        if self._topic.is_compacted:
            return
        first, records = self._first, self._records
        while first < len(records) and (len(records) - first > self._most or records[first].appended_us < oldest_us):
            first += 1
        self.dropped += first - self._first
        self._first = first
        if first > MOST_STALE and 2 * first > len(records):
            del records[:first], self._positions[:first]
            self._first = 0

    def read(self, position: int, most: int, since_us: int = 0) -> Sequence[Record]:
        """At most ``most`` records from ``position`` on, without those before ``since_us``."""
        found: list[Record] = []
        index = max(self._first, bisect_left(self._positions, position))
        while index < len(self._records) and len(found) < most:
            record = self._records[index]
            if record.appended_us >= since_us and self._is_kept(record):
                found.append(record)
            index += 1
        return found

    def _is_kept(self, record: Record) -> bool:
        return not self._topic.is_compacted or self._newest.get(record.key) == record.position

    def _replace(self, key: bytes, position: int) -> None:
        newest = self._newest
        newest.pop(key, None)  # so that the first key is that of the oldest record
        newest[key] = position
        if len(newest) > self._most:
            del newest[next(iter(newest))]
            self.dropped += 1
        if len(self._records) > 2 * len(newest) + MOST_STALE:
            self._records = [one for one in self._records if self._is_kept(one)]
            self._positions = [one.position for one in self._records]

    def check_invariants(self) -> None:
        """Of the newest records only, since it is called after each step."""
        last = self._positions[-2:]
        assert last == sorted(set(last)), "positions rise"
        assert not last or last[-1] < self.end
        assert len(self) <= self._most
