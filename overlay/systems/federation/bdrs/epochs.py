"""What has been published: brokers and edges, with the number of their epoch. Pure.

An epoch is sent as changes since one that the receiver has, or whole; each message has all edges. What does not fit
into one message goes whole, in parts: brokers are spread over them, and edges are in each unless they fill half a
message. Then they are spread as well, after the brokers. A receiver therefore joins the edges of all parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import TypeVar

from overlay.messages.codec import pack
from overlay.messages.kinds import MOST
from overlay.systems.federation.bdrs.forest import Edge
from overlay.systems.federation.wire import composites as c
from overlay.systems.federation.wire.messages import Brokers, Whole
from overlay.systems.federation.wire.values import BrokerAdvertisement

T = TypeVar("T")

MOST_ADVERTISEMENT = 30_000
"""Bytes of an advertisement: with half a message of edges it fits into a part."""
_HALF = MOST // 2
_ROOM = MOST - 64
"""For the elements of a message, without its heads."""
MOST_GONE = 1_024
"""Brokers of which it is known in which epoch they went."""


class Epochs:
    def __init__(self) -> None:
        self.epoch = 0
        """0: nothing was published."""
        self.edges: tuple[Edge, ...] = ()
        self._brokers: dict[str, BrokerAdvertisement] = {}
        self._sizes: dict[str, int] = {}
        self._since: dict[str, int] = {}
        """The epoch of each broker's last change, the oldest first."""
        self._gone: dict[str, int] = {}
        """The epoch in which a broker went, the oldest first."""
        self._base = 0
        """Changes since an earlier epoch are not known."""

    @property
    def brokers(self) -> Mapping[str, BrokerAdvertisement]:
        return self._brokers

    def publish(
        self, epoch: int, changed: Iterable[BrokerAdvertisement], gone: Iterable[str], edges: tuple[Edge, ...]
    ) -> None:
        """``epoch`` is higher than the one before."""
        if not self.epoch:
            self._base = epoch
        self.epoch, self.edges = epoch, edges
        for broker in gone:
            self._gone[broker] = epoch
            del self._brokers[broker], self._sizes[broker], self._since[broker]
        for advertisement in changed:
            broker = advertisement.id
            self._gone.pop(broker, None)
            self._since.pop(broker, None)
            self._since[broker] = epoch
            self._brokers[broker] = advertisement
            self._sizes[broker] = size_of(advertisement)
        while len(self._gone) > MOST_GONE:
            self._base = self._gone.pop(next(iter(self._gone)))

    def since(self, epoch: int) -> list[Brokers]:
        """For a receiver that has ``epoch``; 0, or one that is too old or too new, gives all."""
        if not self._base <= epoch <= self.epoch or not epoch:
            return self.whole()
        changed = [broker for broker, _ in takewhile(lambda row: row[1] > epoch, reversed(self._since.items()))]
        gone = [broker for broker, at in takewhile(lambda row: row[1] > epoch, reversed(self._gone.items()))]
        size = sum(self._sizes[broker] for broker in changed) + _bytes(gone) + _edge_bytes(self.edges)
        if size > _ROOM:
            return self.whole()
        brokers = tuple(self._brokers[broker] for broker in reversed(changed))
        return [Brokers(self.epoch, Whole.CHANGES, brokers, tuple(reversed(gone)), self.edges)]

    def whole(self) -> list[Brokers]:
        parts = list(self._parts())
        last = len(parts) - 1
        return [
            Brokers(self.epoch, Whole.LAST if number == last else Whole.PART, tuple(brokers), (), tuple(edges))
            for number, (brokers, edges) in enumerate(parts)
        ]

    def _parts(self) -> Iterator[tuple[Sequence[BrokerAdvertisement], Sequence[Edge]]]:
        size = _edge_bytes(self.edges)
        is_in_each = size <= _HALF
        edges = self.edges if is_in_each else ()
        rows = ((broker, self._sizes[broker.id]) for broker in self._brokers.values())
        for brokers in _filled(rows, _ROOM - size if is_in_each else _ROOM):
            yield brokers, edges
        if not is_in_each:
            for some in _filled(((edge, _edge_bytes((edge,))) for edge in self.edges), _ROOM):
                yield (), some

    def check_invariants(self) -> None:
        """Raises ``AssertionError``."""
        assert self._brokers.keys() == self._sizes.keys() == self._since.keys()
        assert not self._gone.keys() & self._brokers.keys()
        assert len(self._gone) <= MOST_GONE
        for rows in (self._since, self._gone):
            numbers = list(rows.values())
            assert numbers == sorted(numbers) and all(number <= self.epoch for number in numbers)
        assert list(self.edges) == sorted(set(self.edges))
        assert all(a < b and a in self._brokers and b in self._brokers for a, b in self.edges)


def size_of(advertisement: BrokerAdvertisement) -> int:
    """Bytes in a message."""
    return len(pack(c.BROKER.write(advertisement)))


def _bytes(names: Iterable[str]) -> int:
    return sum(2 + len(name.encode()) for name in names)


def _edge_bytes(edges: Iterable[Edge]) -> int:
    return sum(1 + _bytes(edge) for edge in edges)


def _filled(rows: Iterable[tuple[T, int]], room: int) -> Iterator[list[T]]:
    """Rows and their bytes, in lists that fit; one empty list if there are none."""
    some: list[T] = []
    left = room
    for row, size in rows:
        if size > left:
            yield some
            some, left = [], room
        some.append(row)
        left -= size
    yield some
