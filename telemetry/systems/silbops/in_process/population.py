"""Subscribers, their filters and positions, and notifications, drawn from a seed: they depend on no arm and no index.

The defaults are those of the generator of the paper's group, ssbg, and of its later WorkloadGen.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from random import Random

from overlay.systems.silbops.content.filters import Filter, read_filter
from overlay.systems.silbops.content.values import Value, Values


@dataclass(frozen=True, slots=True)
class Content:
    """What filters and notifications are drawn from. The weights of types are of text, numbers, and true and false;
    those of operators of ``=``, ``>`` and ``<`` on numbers."""

    names: int = 1_000
    name_zipf: float = 1.0
    words: int = 1_000
    word_zipf: float = 1.0
    integers: int = 100
    types: tuple[int, ...] = (6, 4, 1)
    operators: tuple[int, ...] = (100, 20, 20)
    attributes: tuple[int, int] = (1, 10)
    constraints: tuple[int, int] = (1, 5)


@dataclass(frozen=True, slots=True)
class Ground:
    """Positions are uniform on a square; a subscriber sees a smaller one around it."""

    side_km: float = 1_000
    radius_km: float = 20


class Population:
    def __init__(self, seed: int, filters: Sequence[int], content: Content | None = None, ground: Ground | None = None):
        """``filters``: how many each subscriber has."""
        self._content, self.ground = content or Content(), ground or Ground()
        self._chance = Random(seed)
        self._names = _weights(self._content.names, self._content.name_zipf)
        self._words = _weights(self._content.words, self._content.word_zipf)
        kinds = self._chance.choices(("text", "number", "bool"), self._content.types, k=self._content.names)
        self._kinds = dict(enumerate(kinds))
        self.filters: list[list[Filter]] = [[self._filter() for _ in range(number)] for number in filters]
        """By subscriber."""
        self.places = [self.place() for _ in filters]

    def place(self) -> Values:
        """A context."""
        side = self.ground.side_km
        return {"x": self._chance.uniform(0, side), "y": self._chance.uniform(0, side)}

    def notification(self) -> Values:
        names = self._distinct(*self._content.attributes)
        return {f"a{name}": self._value(name) for name in sorted(names)}

    def _filter(self) -> Filter:
        names = self._distinct(*self._content.constraints)
        return read_filter([[f"a{name}", self._operator(name), self._value(name)] for name in names])

    def _operator(self, name: int) -> str:
        if self._kinds[name] != "number":
            return "="
        return self._chance.choices(("=", ">", "<"), self._content.operators)[0]

    def _value(self, name: int) -> Value:
        kind = self._kinds[name]
        if kind == "text":
            return f"w{self._drawn(self._words)}"
        if kind == "number":
            return self._chance.randrange(self._content.integers)
        return self._chance.random() < 0.5

    def _distinct(self, fewest: int, most: int) -> list[int]:
        wanted, found = min(self._chance.randint(fewest, most), self._content.names), dict[int, None]()
        while len(found) < wanted:
            found[self._drawn(self._names)] = None
        return list(found)

    def _drawn(self, weights: Sequence[float]) -> int:
        return bisect(weights, self._chance.random() * weights[-1], hi=len(weights) - 1)


def evenly(subscriptions: int, subscribers: int) -> list[int]:
    """Subscriptions in all, spread over the subscribers."""
    return [subscriptions // subscribers + (number < subscriptions % subscribers) for number in range(subscribers)]


def mixed(subscriptions: int, chance: Random) -> list[int]:
    """1 to 20 for each subscriber, until there are so many."""
    found, left = list[int](), subscriptions
    while left:
        found.append(min(left, chance.randint(1, 20)))
        left -= found[-1]
    return found


def _weights(number: int, zipf: float) -> list[float]:
    """Cumulated: the n-th of them is drawn n ** -zipf as often as the first."""
    return list(accumulate((rank + 1) ** -zipf for rank in range(number)))
