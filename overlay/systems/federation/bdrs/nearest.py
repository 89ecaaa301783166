"""The brokers nearest to a position. Pure."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from math import hypot, inf

from overlay.systems.federation.wire.values import BrokerAdvertisement

Position = tuple[float, float]


class Nearest:
    """Sorted by x: a search goes outwards from the position until x alone is farther than what it has found."""

    def __init__(self) -> None:
        self._positions: dict[str, Position | None] = {}
        self._by_x: list[tuple[float, str]] = []
        self._ids: list[str] = []
        """All, sorted."""
        self._nowhere: list[str] = []
        """Those without a position, sorted."""

    def put(self, broker: BrokerAdvertisement) -> None:
        position = broker.position
        if broker.id in self._positions:
            if self._positions[broker.id] == position:
                return
            self.remove(broker.id)
        self._positions[broker.id] = position
        insort(self._ids, broker.id)
        if position is None:
            insort(self._nowhere, broker.id)
        else:
            insort(self._by_x, (position[0], broker.id))

    def remove(self, broker: str) -> None:
        position = self._positions.pop(broker)
        del self._ids[bisect_left(self._ids, broker)]
        if position is None:
            del self._nowhere[bisect_left(self._nowhere, broker)]
        else:
            del self._by_x[bisect_left(self._by_x, (position[0], broker))]

    def find(self, position: Position | None, most: int, fits: Callable[[str], bool]) -> list[str]:
        """At most ``most`` ids that fit: the nearest first, of equal ones the smaller id; those without a position
        last. Without ``position``, by id."""
        if position is None:
            return list(islice(filter(fits, self._ids), most))
        found = self._around(position, most, fits)
        return found + list(islice(filter(fits, self._nowhere), most - len(found)))

    def _around(self, position: Position, most: int, fits: Callable[[str], bool]) -> list[str]:
        best: list[tuple[float, str]] = []
        for across, broker in self._outwards(position[0]):
            if len(best) == most and across > best[-1][0]:
                break
            if fits(broker):
                x, y = self._positions[broker]  # type: ignore[misc]  # it is in ``_by_x``
                insort(best, (hypot(x - position[0], y - position[1]), broker))
                del best[most:]
        return [broker for _, broker in best]

    def _outwards(self, x: float) -> Iterator[tuple[float, str]]:
        """Distances in x, ascending, and the brokers."""
        rows = self._by_x
        right = bisect_left(rows, (x, ""))
        left = right - 1
        while left >= 0 or right < len(rows):
            before = x - rows[left][0] if left >= 0 else inf
            after = rows[right][0] - x if right < len(rows) else inf
            if left >= 0 and before <= after:
                yield before, rows[left][1]
                left -= 1
            else:
                yield after, rows[right][1]
                right += 1

    def check_invariants(self, brokers: Mapping[str, BrokerAdvertisement]) -> None:
        """That it has these. Raises ``AssertionError``."""
        assert self._positions == {broker: one.position for broker, one in brokers.items()}
        assert self._ids == sorted(brokers)
        assert self._nowhere == [broker for broker in self._ids if brokers[broker].position is None]
        placed = [(one.position[0], broker) for broker, one in brokers.items() if one.position is not None]
        assert self._by_x == sorted(placed)
