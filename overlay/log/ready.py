"""Whether topics that are read from their beginning have been read as far as they went."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from overlay.log.node import Assignment
from overlay.log.topics import Record


class Ready:
    def __init__(self, topics: Iterable[str]) -> None:
        self._unassigned = set(topics)
        self._topics = frozenset(self._unassigned)
        self._ends: dict[tuple[str, int], int] = {}
        """By partition, where its records ended when it was assigned; those that have not been read so far."""

    def assigned(self, partitions: Sequence[Assignment]) -> None:
        for found in partitions:
            if found.topic in self._topics:
                self._unassigned.discard(found.topic)
                if found.end:
                    self._ends[found.topic, found.partition] = found.end

    def revoked(self, partitions: Sequence[Assignment]) -> None:
        for found in partitions:
            self._ends.pop((found.topic, found.partition), None)

    def read(self, record: Record) -> None:
        """Also of a record of another topic, which changes nothing."""
        place = record.topic, record.partition
        end = self._ends.get(place)
        if end is not None and record.position + 1 >= end:
            del self._ends[place]

    def knows(self, topic: str) -> bool:
        """Whether all that was there when it was assigned has been read."""
        return topic not in self._unassigned and not any(name == topic for name, _ in self._ends)

    @property
    def is_ready(self) -> bool:
        return not self._unassigned and not self._ends
