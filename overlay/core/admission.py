"""Fair queueing of datagrams under overload, before any work is done on them. Pure.

Counterparts: ``overlay.runtime.udp`` fills it from a socket, ``overlay.sim.served`` with the input of a simulated
broker.

In a single queue, the busiest sender makes all others wait or lose datagrams. Up to a backlog of ``BACKLOG``
datagrams the order is first in, first out. Beyond it, senders are served round robin::

    known senders ── by socket address, as the clients of one host share its IP ─────────┐ first
    strangers     ── at most STRANGER_UNITS per address, round robin by /24 (IPv6: /64) ─┘ after all known senders

The datagrams of one sender stay in order. When the buffer is full, the longest queues lose their newest datagrams until
none has more than its share (buffer stealing: McKenney, *Stochastic Fairness Queueing*, 1990), so a single sender can
use the complete buffer. A sender with many addresses in a trusted network gets as many turns; trust includes this.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

from overlay.core.addresses import Address, block_of

BACKLOG = 256
"""Datagrams served in order. Such short queues also occur on idle brokers and delay no sender noticeably."""

UNIT = 512
"""Bytes. A datagram takes one unit and another one for each so many bytes, similar to the kernel's buffer."""

KNOWN_UNITS = 16_384
"""For all known senders: 1.5 times the small datagrams that fit into a receive buffer of 8 MB."""
STRANGERS_UNITS = 2_048
"""For all strangers."""
STRANGER_UNITS = 64
"""For each stranger's address."""
MOST_UNITS = 1 + 65_535 // UNIT
"""Units of the largest datagram."""

Datagram = tuple[bytes, Address]
"""The bytes and their source."""


class Admission:
    """The queues; empty unless there is a backlog. ``knows`` tells known senders from strangers."""

    def __init__(self, knows: Callable[[Address], bool]) -> None:
        self._knows = knows
        self._known = Turns(KNOWN_UNITS)
        self._strangers = Turns(STRANGERS_UNITS)
        self._units: Counter[Address] = Counter()
        """Units waiting, by stranger."""
        self.dropped = 0
        """Datagrams dropped since the start."""

    def __len__(self) -> int:
        """Waiting datagrams."""
        return len(self._known) + len(self._strangers)

    def admit(self, datagrams: Sequence[Datagram]) -> None:
        """Queue datagrams in order of arrival. Datagrams without room are dropped and counted."""
        sources = [source for _, source in datagrams]
        strangers = {source for source in set(sources) if not self._knows(source)}
        if strangers:
            self._admit_strangers([datagram for datagram in datagrams if datagram[1] in strangers])
            datagrams = [datagram for datagram in datagrams if datagram[1] not in strangers]
            sources = [source for _, source in datagrams]
        self.dropped += len(self._known.put(sources, datagrams))

    def take(self, most: int) -> Sequence[Datagram]:
        """Remove and return up to ``most`` datagrams, the next to be served."""
        taken = self._known.take(most)
        if len(taken) < most and self._strangers:
            strangers = self._strangers.take(most - len(taken))
            self._forget(strangers)
            taken += strangers
        return taken

    def _admit_strangers(self, datagrams: Sequence[Datagram]) -> None:
        within: list[Datagram] = []
        for datagram in datagrams:
            source = datagram[1]
            if self._units[source] < STRANGER_UNITS:
                self._units[source] += units((datagram,))
                within.append(datagram)
        dropped = self._strangers.put([block_of(source[0]) for _, source in within], within)
        self._forget(dropped)
        self.dropped += len(datagrams) - len(within) + len(dropped)

    def _forget(self, strangers: Iterable[Datagram]) -> None:
        for datagram in strangers:
            source = datagram[1]
            self._units[source] -= units((datagram,))
            if not self._units[source]:
                del self._units[source]

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if counters are inconsistent or exceed their limits."""
        self._known.check_invariants()
        self._strangers.check_invariants()
        waiting: Counter[Address] = Counter()
        for datagram in self._strangers:
            waiting[datagram[1]] += units((datagram,))
        assert waiting == self._units
        assert all(of_one < STRANGER_UNITS + MOST_UNITS for of_one in waiting.values())


class Turns:
    """Queues by key, served round robin, one datagram at a time."""

    def __init__(self, most_units: int) -> None:
        self._most = most_units
        self._queues: dict[Hashable, deque[Datagram]] = {}
        self._ring: deque[Hashable] = deque()
        """The keys with a datagram waiting, the next one first."""
        self._units = 0
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Datagram]:
        return (datagram for queue in self._queues.values() for datagram in queue)

    def put(self, keys: Sequence[Hashable], datagrams: Sequence[Datagram]) -> Sequence[Datagram]:
        """Queue each datagram under its key. Returns the datagrams dropped to make room, which may be among these."""
        queues = self._queues
        if keys and keys.count(keys[0]) == len(keys):  # a fast path: a single busy socket keeps its rate
            self._queue(keys[0]).extend(datagrams)
        else:
            for key, datagram in zip(keys, datagrams, strict=True):
                (queues.get(key) or self._queue(key)).append(datagram)
        self._count += len(datagrams)
        self._units += units(datagrams)
        return self._cut() if self._units > self._most else ()

    def _queue(self, key: Hashable) -> deque[Datagram]:
        """The queue of this key, created and added to the ring if missing."""
        queue = self._queues.get(key)
        if queue is None:
            queue = self._queues[key] = deque()
            self._ring.append(key)
        return queue

    def take(self, most: int) -> list[Datagram]:
        """Up to ``most`` datagrams, round robin over the keys."""
        ring, queues = self._ring, self._queues
        taken: list[Datagram] = []
        while ring and len(taken) < most:
            key = ring.popleft()
            queue = queues[key]
            taken.append(queue.popleft())
            if not ring:
                taken += [queue.popleft() for _ in range(min(most - len(taken), len(queue)))]
            if queue:
                ring.append(key)
            else:
                del queues[key]
        self._count -= len(taken)
        self._units -= units(taken)
        return taken

    def _cut(self) -> list[Datagram]:
        """Shorten the longest queues until an eighth of the room is free, so that this happens rarely.

        Among queues of equal length, the latest ones are shortened.
        """
        room = self._most - self._most // 8
        sizes = {key: units(queue) for key, queue in self._queues.items()}
        height = share(sizes.values(), room)
        dropped: list[Datagram] = []
        for key in reversed(self._ring):
            queue, size = self._queues[key], sizes[key]
            while size > height and self._units > room:
                dropped.append(queue.pop())
                taken = units(dropped[-1:])
                size -= taken
                self._units -= taken
            if not queue:
                del self._queues[key]
        self._count -= len(dropped)
        self._ring = deque(key for key in self._ring if key in self._queues)
        return dropped

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if counters are inconsistent or exceed their limits."""
        assert units(self) == self._units <= self._most
        assert len(list(self)) == self._count
        assert set(self._ring) == set(self._queues)
        assert len(self._ring) == len(self._queues)
        assert all(self._queues.values())


def share(sizes: Iterable[int], room: int) -> int:
    """The largest limit such that the sizes, each cut to it, fit into ``room``. Uncut, they must not fit."""
    left, ascending = room, sorted(sizes)
    for others, size in zip(range(len(ascending), 0, -1), ascending, strict=True):
        if size * others > left:
            return left // others
        left -= size  # sizes below the limit are not cut
    raise ValueError("they fit")


def units(datagrams: Iterable[Datagram]) -> int:
    """The units that they take."""
    return sum([1 + len(data) // UNIT for data, _ in datagrams])
