"""Which position a reader may commit: all before it is settled (seed 004, contract, sections 1 and 7)."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from overlay.log.node import Assignment
from overlay.log.topics import Position, Record

Place = tuple[str, int]
"""A topic and a partition."""


class Progress:
    """The records that a node has read and not yet settled, of all partitions it owns. It reads a topic for one group
    only."""

    def __init__(self) -> None:
        self._groups: dict[Place, str] = {}
        self._read: dict[Place, deque[int]] = {}
        """Positions read, the oldest first; those before the first are settled."""
        self._settled: dict[Place, set[int]] = {}
        """Those of them that are settled, behind one that is not."""
        self._changed: dict[Place, int] = {}
        """Positions to commit."""

    def assigned(self, partitions: Sequence[Assignment]) -> None:
        for found in partitions:
            place = found.topic, found.partition
            self._groups[place], self._read[place], self._settled[place] = found.group, deque(), set()

    def revoked(self, partitions: Sequence[Assignment]) -> None:
        for found in partitions:
            for table in (self._groups, self._read, self._settled, self._changed):
                table.pop((found.topic, found.partition), None)

    def read(self, record: Record) -> None:
        self._read[record.topic, record.partition].append(record.position)

    def settle(self, topic: str, partition: int, position: int) -> None:
        """Also of what was revoked meanwhile, which changes nothing."""
        place = topic, partition
        read = self._read.get(place)
        if not read or not read[0] <= position <= read[-1]:
            return
        settled = self._settled[place]
        settled.add(position)
        while read and read[0] in settled:
            done = read.popleft()
            settled.discard(done)
            self._changed[place] = done + 1

    def unsettled(self) -> int:
        """How many records."""
        return sum(map(len, self._read.values()))

    def positions_to_commit(self) -> Sequence[Position]:
        changed, self._changed = self._changed, {}
        return [
            Position(topic, self._groups[topic, partition], partition, position)
            for (topic, partition), position in changed.items()
        ]

    def check_invariants(self) -> None:
        for place, settled in self._settled.items():
            read = self._read[place]
            assert settled <= set(read), "what is settled was read"
            assert not read or read[0] not in settled, "all settled positions before the first unsettled are committed"
            assert self._changed.get(place, 0) <= (read[0] if read else self._changed.get(place, 0))
