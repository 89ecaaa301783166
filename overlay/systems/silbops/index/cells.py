"""A filter with a box is found by the cells that its box covers, and there by one of its equalities; siena arm only.

There the box around a subscriber is four constraints on two variables of the publisher's context, ``@x`` and ``@y``.
The cells of a grid are at least as wide as the boxes in it, so a box covers four at most. Grids of other widths hold
boxes of other sizes; filters without a box are found as in ``access``.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from itertools import product
from math import ceil, floor, log2
from typing import NamedTuple

from overlay.systems.silbops.content.constraints import ABOVE, BELOW
from overlay.systems.silbops.content.filters import Filter
from overlay.systems.silbops.content.values import NUMBER, Values, as_number
from overlay.systems.silbops.index.access import Access, Bucket
from overlay.systems.silbops.index.terms import Equality, Term, Terms

SMALLEST_LEVEL = -20
"""Boxes narrower than 2 ** -20 stand in a grid of this width."""
LARGEST = 1e200
"""Of bounds. A box beyond is found as if it were none."""


class Grid(NamedTuple):
    """All boxes over two variables whose wider side is at most 2 ** level, and more than half of it."""

    x: str
    y: str
    level: int

    def cell(self, x: float, y: float) -> tuple[int, int]:
        size = 2.0**self.level
        return floor(x / size), floor(y / size)


class _Box(NamedTuple):
    grid: Grid
    low: tuple[float, float]
    high: tuple[float, float]

    def cells(self) -> Iterator[tuple[int, int]]:
        (left, bottom), (right, top) = self.grid.cell(*self.low), self.grid.cell(*self.high)
        return product(range(left, right + 1), range(bottom, top + 1))


Place = tuple[Grid, tuple[int, int], Term | None]
"""The third is the equality, if the filter has one."""


class Cells:
    def __init__(self) -> None:
        self._terms = Terms()
        """The first term of a filter is the one that it is found by, if it is an equality."""
        self._boxes: dict[int, _Box] = {}
        self._places: dict[Place, Bucket] = {}
        self._grids: dict[Grid, int] = {}
        """How many filters each has."""
        self._others: Access = Access()

    def __len__(self) -> int:
        return len(self._boxes) + len(self._others)

    def add(self, number: int, one: Filter) -> Filter:
        box = _box(one)
        if box is None:
            return self._others.add(number, one)
        terms = self._terms.acquire(one)
        shared = self._terms.shared(terms)
        terms.sort(key=lambda term: (not isinstance(term, Equality), term.uses))
        self._terms.keep(number, terms)
        self._boxes[number] = box
        self._grids[box.grid] = self._grids.get(box.grid, 0) + 1
        for place in _places(box, terms):
            bucket = self._places.get(place)
            if bucket is None:
                bucket = self._places[place] = Bucket()
            bucket.add(number, terms, found_by=0)
        return shared

    def remove(self, number: int) -> None:
        box = self._boxes.pop(number, None)
        if box is None:
            self._others.remove(number)
            return
        terms = self._terms.drop(number)
        for place in _places(box, terms):
            bucket = self._places[place]
            bucket.remove(number, terms)
            if not bucket:
                del self._places[place]
        self._grids[box.grid] -= 1
        if not self._grids[box.grid]:
            del self._grids[box.grid]

    def match(self, values: Values) -> array[int]:
        found = self._others.match(values)
        met = self._terms.met_by(values)
        for bucket in self._buckets(values, [*met.equalities, None]):
            bucket.collect(met, found)
        return found

    def _buckets(self, values: Values, terms: Sequence[Term | None]) -> Iterator[Bucket]:
        for grid in self._grids:
            x, y = (as_number(values[name]) if name in values else None for name in (grid.x, grid.y))
            if x is not None and y is not None and max(abs(x), abs(y)) <= LARGEST:
                cell = grid.cell(x, y)
                for term in terms:
                    bucket = self._places.get((grid, cell, term))
                    if bucket is not None:
                        yield bucket


def _box(one: Filter) -> _Box | None:
    """Over the first two variables that the filter bounds on both sides. None if there are not two."""
    lows: dict[str, float] = {}
    highs: dict[str, float] = {}
    for part in one:
        if part.name.startswith("@") and part.kind is NUMBER:
            value = float(part.value)  # type: ignore[arg-type]  # a number, as its kind says
            if part.op in ABOVE:
                lows[part.name] = max(value, lows.get(part.name, value))
            elif part.op in BELOW:
                highs[part.name] = min(value, highs.get(part.name, value))
    names = sorted(lows.keys() & highs.keys())[:2]
    if len(names) < 2:
        return None
    low, high = (lows[names[0]], lows[names[1]]), (highs[names[0]], highs[names[1]])
    width = max(high[0] - low[0], high[1] - low[1])
    if min(high[0] - low[0], high[1] - low[1]) < 0 or max(map(abs, (*low, *high))) > LARGEST:
        return None
    level = max(SMALLEST_LEVEL, ceil(log2(width))) if width else SMALLEST_LEVEL
    return _Box(Grid(names[0], names[1], level), low, high)


def _places(box: _Box, terms: Sequence[Term]) -> Iterator[Place]:
    found_by = terms[0] if isinstance(terms[0], Equality) else None
    return ((box.grid, cell, found_by) for cell in box.cells())
