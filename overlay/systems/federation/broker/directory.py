"""What the registration service has told: all brokers, and the tree. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from overlay.systems.federation.wire.messages import Brokers, Whole
from overlay.systems.federation.wire.values import BrokerAdvertisement

MOST_BROKERS = 100_000


class News(NamedTuple):
    """What a BROKERS has changed."""

    is_new_tree: bool
    changed: tuple[BrokerAdvertisement, ...]
    """New, or with another advertisement than before."""
    gone: tuple[str, ...]


class Directory:
    def __init__(self) -> None:
        self.epoch = 0
        """0: nothing was told."""
        self._brokers: dict[str, BrokerAdvertisement] = {}
        self._edges: frozenset[tuple[str, str]] = frozenset()
        self._parts: list[Brokers] = []
        """Of a whole message that is arriving, all of the same epoch."""

    @property
    def brokers(self) -> Mapping[str, BrokerAdvertisement]:
        return self._brokers

    @property
    def edges(self) -> frozenset[tuple[str, str]]:
        return self._edges

    def neighbours(self, broker: str) -> frozenset[str]:
        """Those of a broker in the tree."""
        return frozenset(b if a == broker else a for a, b in self._edges if broker in (a, b) and a != b)

    def reached(self, broker: str) -> frozenset[str]:
        """Those to which edges lead from a broker, itself included."""
        ends: dict[str, list[str]] = {}
        for a, b in self._edges:
            ends.setdefault(a, []).append(b)
            ends.setdefault(b, []).append(a)
        found, ahead = {broker}, [broker]
        while ahead:
            new = [other for other in ends.get(ahead.pop(), ()) if other not in found]
            found.update(new)
            ahead += new
        return frozenset(found)

    def take(self, message: Brokers) -> News | None:
        """``None`` if it is older than what is known, or if more follows."""
        if message.epoch < self.epoch:
            return None
        if message.whole is Whole.CHANGES:
            self._parts.clear()
            brokers = {**self._brokers, **{one.id: one for one in message.brokers}}
            for name in message.gone:
                brokers.pop(name, None)
            return self._replace(message.epoch, brokers, message.edges)
        if self._parts and self._parts[0].epoch != message.epoch:
            self._parts.clear()
        self._parts.append(message)
        if message.whole is Whole.PART:
            if sum(1 + len(one.brokers) for one in self._parts) > MOST_BROKERS:
                self._parts.clear()
            return None
        parts, self._parts = self._parts, []
        brokers = {one.id: one for part in parts for one in part.brokers}
        return self._replace(message.epoch, brokers, [edge for part in parts for edge in part.edges])

    def _replace(self, epoch: int, brokers: dict[str, BrokerAdvertisement], edges: Iterable[tuple[str, str]]) -> News:
        before, self._brokers = self._brokers, brokers
        changed = tuple(one for name, one in brokers.items() if before.get(name) is not one and before.get(name) != one)
        gone = tuple(name for name in before if name not in brokers)
        is_new_tree = epoch > self.epoch
        if is_new_tree:
            self.epoch, self._edges = epoch, frozenset(edges)
        return News(is_new_tree, changed, gone)
