"""Which position a reader may commit: all before it is settled (seed 004, contract, sections 1 and 7)."""

from __future__ import annotations

from collections import OrderedDict
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
        self._unsettled: dict[Place, OrderedDict[int, None]] = {}
        """Positions, the oldest first. One may stay for an hour while thousands behind it are settled, which leave no
        trace."""
        self._newest: dict[Place, int] = {}
        """The last position read."""
        self._changed: dict[Place, int] = {}
        """Positions to commit."""

    def assigned(self, partitions: Sequence[Assignment]) -> None:
        for found in partitions:
            place = found.topic, found.partition
            self._groups[place], self._unsettled[place] = found.group, OrderedDict()

    def revoked(self, partitions: Sequence[Assignment]) -> None:
        for found in partitions:
            for table in (self._groups, self._unsettled, self._newest, self._changed):
                table.pop((found.topic, found.partition), None)

    def read(self, record: Record) -> None:
        place = record.topic, record.partition
        self._unsettled[place][record.position] = None
        self._newest[place] = record.position

    def settle(self, topic: str, partition: int, position: int) -> None:
        """Also of what was revoked meanwhile, which changes nothing."""
        place = topic, partition
        unsettled = self._unsettled.get(place)
        if not unsettled or position not in unsettled:
            return
        is_first = next(iter(unsettled)) == position
        del unsettled[position]
        if is_first:
            self._changed[place] = next(iter(unsettled), self._newest[place] + 1)

    def unsettled(self) -> int:
        """How many records."""
        return sum(map(len, self._unsettled.values()))

    def positions_to_commit(self) -> Sequence[Position]:
        changed, self._changed = self._changed, {}
        return [
            Position(topic, self._groups[topic, partition], partition, position)
            for (topic, partition), position in changed.items()
        ]

    def check_invariants(self) -> None:
        for place, position in self._changed.items():
            unsettled = self._unsettled[place]
            assert position <= next(iter(unsettled), position), "what is committed is settled"
            assert position <= self._newest[place] + 1, "and was read"
