"""Queues of messages, one for each node, with limits and expiry. Every operation takes O(log n) of n messages.

A queue is in the order in which its messages were stored. What expires in its middle leaves a gap there, since
messages may be kept for different times; gaps are closed when there are more of them than messages.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Set
from dataclasses import dataclass, field
from typing import Final

from overlay.systems.contextnet.mtd.expiries import Expiries
from overlay.systems.contextnet.mtd.fullest import Fullest

ENTRY_BYTES: Final = 480
"""Memory of a message in addition to its record: 381 measured with ten for each node, and its unsettled position."""


@dataclass(slots=True, eq=False)
class Entry:
    """A record of ``unsent``."""

    node: bytes
    partition: int
    position: int
    epoch: int
    stored_us: int
    expires_us: int
    """Unix µs."""
    value: bytes
    """Of the record, which takes less memory than a message."""
    is_held: bool = True

    @property
    def size(self) -> int:
        return len(self.value) + ENTRY_BYTES


@dataclass(slots=True)
class _Queue:
    entries: deque[Entry] = field(default_factory=deque)
    count: int = 0
    bytes: int = 0


class Store:
    def __init__(self, per_node: int, total_bytes: int) -> None:
        self._per_node, self._total_bytes = per_node, total_bytes
        self._queues: dict[bytes, _Queue] = {}
        self._expiries: Expiries[Entry] = Expiries()
        self._fullest = Fullest(self._queues.keys(), self._size)
        self.count = 0
        self.bytes = 0

    @property
    def nodes(self) -> Collection[bytes]:
        """Those with messages, live."""
        return self._queues.keys()

    def __iter__(self) -> Iterator[Entry]:
        return (entry for queue in self._queues.values() for entry in queue.entries if entry.is_held)

    def put(self, entry: Entry) -> list[Entry]:
        """Returns what has been evicted: the oldest of this node, or of the fullest."""
        queue = self._queues.setdefault(entry.node, _Queue())
        queue.entries.append(entry)
        self._count(queue, 1, entry.size)
        self._expiries.add(entry, entry.expires_us)
        self._fullest.grown(entry.node, queue.bytes)
        evicted = [self.take(entry.node)] if queue.count > self._per_node else []
        while self.bytes > self._total_bytes:
            evicted.append(self.take(self._fullest.first()))
        return evicted

    def head(self, node: bytes) -> Entry | None:
        """The oldest message for a node."""
        queue = self._queues.get(node)
        return None if queue is None else queue.entries[0]

    def take(self, node: bytes) -> Entry:
        """The same, which is not stored any more. There is one."""
        entry = self._queues[node].entries[0]
        self._expiries.remove(entry, entry.expires_us)
        self._drop(entry)
        return entry

    def next_expiry_s(self) -> int | None:
        """Unix second."""
        return self._expiries.first_s()

    def take_expired(self, now_us: int, most: int) -> list[Entry]:
        """At most so many; a message may be found up to a second after it expired."""
        expired = self._expiries.pop_due(now_us, most)
        for entry in expired:
            self._drop(entry)
        return expired

    def forget(self, partitions: Set[int]) -> None:
        """All of these partitions of ``unsent``. All messages for one node are in one of them."""
        for node in [node for node, queue in self._queues.items() if queue.entries[0].partition in partitions]:
            while node in self._queues:
                self.take(node)

    def _drop(self, entry: Entry) -> None:
        queue = self._queues[entry.node]
        entry.is_held = False
        self._count(queue, -1, -entry.size)
        while queue.entries and not queue.entries[0].is_held:
            queue.entries.popleft()
        if not queue.count:
            del self._queues[entry.node]
        elif len(queue.entries) > 8 + 2 * queue.count:
            queue.entries = deque(one for one in queue.entries if one.is_held)

    def _count(self, queue: _Queue, entries: int, size: int) -> None:
        queue.count += entries
        self.count += entries
        queue.bytes += size
        self.bytes += size

    def _size(self, node: bytes) -> int:
        queue = self._queues.get(node)
        return 0 if queue is None else queue.bytes

    def check_invariants(self) -> None:
        """(I4)."""
        for queue in self._queues.values():
            held = [entry for entry in queue.entries if entry.is_held]
            assert queue.entries[0].is_held, "a queue begins with a message"
            assert (queue.count, queue.bytes) == (len(held), sum(entry.size for entry in held))
            assert queue.count <= self._per_node, "no node has more than its share"
            assert len({entry.partition for entry in held}) == 1, "all messages for a node are in one partition"
            assert [entry.position for entry in held] == sorted(entry.position for entry in held), "in order"
        assert self.count == sum(queue.count for queue in self._queues.values())
        assert self.bytes == sum(queue.bytes for queue in self._queues.values()) <= self._total_bytes
