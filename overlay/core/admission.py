"""Whose datagram is served next, when more come than a node can serve: admission before work. Pure.

Counterparts: ``overlay.runtime.udp`` reads a socket into it, ``overlay.sim.served`` what waits for a simulated broker.

In one queue for all, whoever sends most makes all others wait, or find no room. So beyond a backlog of ``BACKLOG``
datagrams, which are served in the order in which they came, senders take turns::

    known ones  ── by socket address: the clients of one host share its IP ──────────────┐ first
    strangers   ── at most STRANGER_UNITS of each address, turns by /24 (IPv6: /64) ─────┘ after all of these

A sender's datagrams stay in order. Where there is no room, those with most waiting lose their newest until none has
more than its share (buffer stealing: McKenney, *Stochastic Fairness Queueing*, 1990), so that one sender alone has all
the room there is. Who hides behind many addresses of a trusted network has as many turns: that is what trust gives.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

from overlay.core.addresses import Address, block_of

BACKLOG = 256
"""Datagrams that wait without turns: fewer cost a sender no time worth a turn, and are seen on a quiet broker, too."""

UNIT = 512
"""Bytes: a datagram takes one unit and another one for each so many bytes, since the kernel's buffer counts alike."""

KNOWN_UNITS = 16_384
"""For all known senders: what a receive buffer of 8 MB holds of small datagrams, and half more."""
STRANGERS_UNITS = 2_048
"""For all strangers."""
STRANGER_UNITS = 64
"""For one address of them."""
MOST_UNITS = 1 + 65_535 // UNIT
"""Of one datagram."""

Datagram = tuple[bytes, Address]
"""With where it came from."""


class Admission:
    """What waits for its turn; nothing, unless there is a backlog. ``knows`` tells senders from strangers."""

    def __init__(self, knows: Callable[[Address], bool]) -> None:
        self._knows = knows
        self._known = Turns(KNOWN_UNITS)
        self._strangers = Turns(STRANGERS_UNITS)
        self._units: Counter[Address] = Counter()
        """Of each stranger."""
        self.dropped = 0
        """Datagrams for which there was no room, ever."""

    def __len__(self) -> int:
        """Datagrams that wait."""
        return len(self._known) + len(self._strangers)

    def admit(self, datagrams: Sequence[Datagram]) -> None:
        """They came in this order; what finds no room is dropped and counted."""
        sources = [source for _, source in datagrams]
        strangers = {source for source in set(sources) if not self._knows(source)}
        if strangers:
            self._admit_strangers([datagram for datagram in datagrams if datagram[1] in strangers])
            datagrams = [datagram for datagram in datagrams if datagram[1] not in strangers]
            sources = [source for _, source in datagrams]
        self.dropped += len(self._known.put(sources, datagrams))

    def take(self, most: int) -> Sequence[Datagram]:
        """Up to ``most`` that are served next."""
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
        """Raise ``AssertionError`` where the books disagree or outgrow their bounds."""
        self._known.check_invariants()
        self._strangers.check_invariants()
        waiting: Counter[Address] = Counter()
        for datagram in self._strangers:
            waiting[datagram[1]] += units((datagram,))
        assert waiting == self._units
        assert all(of_one < STRANGER_UNITS + MOST_UNITS for of_one in waiting.values())


class Turns:
    """Queues by key, of which each gives one datagram in turn."""

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
        """Queue them, each under its key; the datagrams that were dropped to make room, which may be some of these."""
        queues = self._queues
        if keys and keys.count(keys[0]) == len(keys):  # one busy socket alone is to keep its rate
            self._queue(keys[0]).extend(datagrams)
        else:
            for key, datagram in zip(keys, datagrams, strict=True):
                (queues.get(key) or self._queue(key)).append(datagram)
        self._count += len(datagrams)
        self._units += units(datagrams)
        return self._cut() if self._units > self._most else ()

    def _queue(self, key: Hashable) -> deque[Datagram]:
        """Of this key, and in the ring."""
        queue = self._queues.get(key)
        if queue is None:
            queue = self._queues[key] = deque()
            self._ring.append(key)
        return queue

    def take(self, most: int) -> list[Datagram]:
        """Up to ``most``, one of each key in turn."""
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
        """Take from the longest until an eighth of the room is free, so that they are looked through seldom.

        Of queues that are equally long, those that came last lose.
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
        """Raise ``AssertionError`` where the books disagree or outgrow their bounds."""
        assert units(self) == self._units <= self._most
        assert len(list(self)) == self._count
        assert set(self._ring) == set(self._queues)
        assert len(self._ring) == len(self._queues)
        assert all(self._queues.values())


def share(sizes: Iterable[int], room: int) -> int:
    """The largest bound such that the sizes, each cut to it, fit into ``room``, into which they do not fit uncut."""
    left, ascending = room, sorted(sizes)
    for others, size in zip(range(len(ascending), 0, -1), ascending, strict=True):
        if size * others > left:
            return left // others
        left -= size  # those below the bound keep what they have
    raise ValueError("they fit")


def units(datagrams: Iterable[Datagram]) -> int:
    """The room that they take."""
    return sum([1 + len(data) // UNIT for data, _ in datagrams])
