"""Filters, notifications, positions and moves, drawn from the seed (seed 002, presets).

Draws depend on the workload and the seed alone: neither arm nor index changes them. Each client and purpose has a
stream of its own.
"""

from __future__ import annotations

from array import array
from bisect import bisect
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate
from math import cos, pi, sin
from typing import Any

from overlay.core.chance import Chance, Stream, derive_seed
from overlay.core.node import SECOND
from overlay.systems.silbops.content.constraints import Constraint, constraint
from overlay.systems.silbops.content.filters import Filter, filter_of
from overlay.systems.silbops.content.values import Value
from overlay.systems.silbops.scope.text import parse
from overlay.systems.silbops.scope.tree import Tree
from overlay.systems.silbops.workload import ALL, FIXED, JUMP, Workload, weights

TEXT, NUMBER, BOOL = range(3)
NUMBER_OPS = ("=", ">", "<")
TEXT_OPS = ("=", "prefix", "suffix", "contains")
GROUP = "group"
"""The variable of a subscriber that publishers admit or not."""
SUBSCRIBERS, PUBLISHERS = "subscribers", "publishers"
METRES = 1_000
"""In a kilometre."""


class Draws:
    def __init__(self, workload: Workload, seed: int) -> None:
        self._workload, self._seed = workload, seed
        self._names = _zipf(workload.attribute_names, workload.name_zipf)
        self._texts = _zipf(workload.string_values, workload.value_zipf)
        self._types = _types(workload.attribute_names, workload.type_mix, seed)
        self._number_ops, self._text_ops = _summed(workload.number_ops, 3), _summed(workload.string_ops, 4)

    # ---- content

    def filters(self, subscriber: int) -> list[Filter]:
        """Of a subscriber's subscriptions, in order."""
        chance, workload = self._stream("filters", subscriber), self._workload
        count = workload.subscriptions_of(subscriber)
        if count is None:
            count = _between(chance, workload.filters_min, workload.filters_max)
        return [self._filter(chance) for _ in range(count)]

    def notifications(self, publisher: int) -> Iterator[dict[str, Value]]:
        """Of a publisher, without end."""
        chance, workload = self._stream("notifications", publisher), self._workload
        while True:
            names = self._distinct(chance, _between(chance, workload.attributes_min, workload.attributes_max))
            yield {f"a{name}": self._value(chance, self._types[name]) for name in sorted(names)}

    def _filter(self, chance: Chance) -> Filter:
        workload = self._workload
        names = self._distinct(chance, _between(chance, workload.constraints_min, workload.constraints_max))
        return filter_of(self._constraint(chance, name) for name in names)

    def _constraint(self, chance: Chance, name: int) -> Constraint:
        kind = self._types[name]
        op = "="
        if kind == NUMBER:
            op = NUMBER_OPS[_choice(chance, self._number_ops)]
        elif kind == TEXT:
            op = TEXT_OPS[_choice(chance, self._text_ops)]
        return constraint(f"a{name}", op, self._value(chance, kind))

    def _value(self, chance: Chance, kind: int) -> Value:
        if kind == TEXT:
            return f"w{_choice(chance, self._texts)}"
        if kind == NUMBER:
            return chance.randrange(self._workload.int_values)
        return chance.random() < 0.5

    def _distinct(self, chance: Chance, count: int) -> list[int]:
        """Names, by their rank."""
        if 2 * count > len(self._names):  # many draws would repeat a name
            return self._distinct_of_few(chance, count)
        found: dict[int, None] = {}
        while len(found) < count:
            found[_choice(chance, self._names)] = None
        return list(found)

    def _distinct_of_few(self, chance: Chance, count: int) -> list[int]:
        left = list(range(len(self._names)))
        zipf = self._workload.name_zipf
        found = []
        for _ in range(count):
            sums = list(accumulate((name + 1) ** -zipf for name in left))
            found.append(left.pop(_choice(chance, sums)))
        return found

    # ---- context

    def contexts(self, kind: str, client: int, interval_s: float) -> Iterator[dict[str, Value]]:
        """Of a client of ``kind``, without end: where it begins, and after each interval."""
        workload = self._workload
        mobility = workload.mobility if kind == SUBSCRIBERS else workload.publisher_mobility
        chance = self._stream("positions", kind, client)
        group = {}
        if kind == SUBSCRIBERS and workload.has_groups:
            group = {GROUP: self._stream("groups", client).random()}
        for x, y in _path(chance, mobility, workload.square_km, workload.speed_m_s * interval_s / METRES):
            yield {**group, "x": x, "y": y}

    def scopes(self, count: int) -> list[Tree | None]:
        """The functions of context of a subscriber's subscriptions."""
        scope = near(self._workload.radius_km)
        return [scope if number == 0 or self._workload.change_scope == ALL else None for number in range(count)]

    # ---- times and moves

    def phase(self, purpose: str, client: int, interval: int) -> int:
        """When, within its first interval (ns), a client begins."""
        return self._stream("phases", purpose, client).randrange(interval)

    def brokers(self, subscriber: int, home: int, brokers: int) -> Iterator[int]:
        """Where it moves, without end: each time to another broker."""
        chance, at = self._stream("moves", subscriber), home
        while True:
            at = (at + 1 + chance.randrange(brokers - 1)) % brokers
            yield at

    def _stream(self, *purpose: object) -> Stream:
        return Stream(derive_seed(self._seed, "silbops", *purpose))


@lru_cache(maxsize=4)
def draws(workload: Workload, seed: int) -> Draws:
    """Shared by the fleets of one process."""
    return Draws(workload, seed)


@lru_cache(maxsize=16)
def near(radius_km: float) -> Tree:
    """The publisher is at most so far away, in x and in y."""
    r = f"{radius_km!r}"
    return parse(f"this.x-{r} <= pub.x <= this.x+{r} and this.y-{r} <= pub.y <= this.y+{r}")


def admitted(share: float) -> Tree:
    """The publishers' function of subscribers."""
    return parse(f"this.{GROUP} < {share!r}")


def nanoseconds(seconds: float) -> int:
    return round(seconds * SECOND)


def _path(chance: Chance, mobility: str, side: float, step: float) -> Iterator[tuple[float, float]]:
    x, y = side * chance.random(), side * chance.random()
    heading = 2 * pi * chance.random()
    dx, dy = step * cos(heading), step * sin(heading)
    while True:
        yield x, y
        if mobility == JUMP:
            x, y = side * chance.random(), side * chance.random()
        elif mobility != FIXED:
            x, dx = _reflected(x + dx, dx, side)
            y, dy = _reflected(y + dy, dy, side)


def _reflected(at: float, step: float, side: float) -> tuple[float, float]:
    """Where one is that walks beyond an edge, and its next step."""
    at %= 2 * side
    return (2 * side - at, -step) if at > side else (at, step)


@lru_cache(maxsize=8)
def _zipf(count: int, exponent: float) -> Sequence[float]:
    """Sums of weights, by rank."""
    return array("d", accumulate((rank + 1) ** -exponent for rank in range(count)))


@lru_cache(maxsize=8)
def _types(count: int, mix: str, seed: int) -> Sequence[int]:
    """Of attributes, by name."""
    chance, sums = Stream(derive_seed(seed, "silbops", "types")), _summed(mix, 3)
    return array("B", (_choice(chance, sums) for _ in range(count)))


def _summed(text: str, count: int) -> Sequence[float]:
    parsed: Any = weights(count)(text)
    return list(accumulate(parsed))


def _choice(chance: Chance, sums: Sequence[float]) -> int:
    """A place, with the weights of ``sums``."""
    return min(bisect(sums, chance.random() * sums[-1]), len(sums) - 1)


def _between(chance: Chance, fewest: int, most: int) -> int:
    return fewest + chance.randrange(most - fewest + 1)
