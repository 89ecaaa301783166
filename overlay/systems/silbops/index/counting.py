"""Each constraint that a notification satisfies counts for its filters; those that reach their number match.

Carzaniga and Wolf, SIGCOMM 2003: the baseline of the paper. Equalities are looked up, orders stand in sorted maps, the
other constraints of an attribute are tested one by one.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from itertools import chain

from overlay.systems.silbops.content.filters import Filter
from overlay.systems.silbops.content.values import Values
from overlay.systems.silbops.index.contract import INTEGERS
from overlay.systems.silbops.index.terms import Ranges, Term, Terms


class Counting:
    """The ``place`` of a term: the numbers of its filters."""

    def __init__(self) -> None:
        self._terms = Terms()
        self._filters: dict[int, Sequence[Term]] = {}
        self._ranges = Ranges()
        self._everything: dict[int, None] = {}

    def __len__(self) -> int:
        return len(self._filters)

    def add(self, number: int, one: Filter) -> Filter:
        terms = self._filters[number] = tuple(self._terms.acquire(one))
        if not terms:
            self._everything[number] = None
        for term in terms:
            if term.place is None:
                term.place = {}
                if not term.is_equality:
                    self._ranges.enter(term)
            term.place[number] = None
        return self._terms.shared(terms)

    def remove(self, number: int) -> None:
        terms = self._filters.pop(number)
        self._everything.pop(number, None)
        for term in terms:
            del term.place[number]
            if not term.place:
                term.place = None
                if not term.is_equality:
                    self._ranges.leave(term)
        self._terms.release(terms)

    def match(self, values: Values) -> array[int]:
        counts: dict[int, int] = {}
        for term in self._satisfied(values):
            for number in term.place:
                counts[number] = counts.get(number, 0) + 1
        filters = self._filters
        reached = [number for number, count in counts.items() if count == len(filters[number])]
        return array(INTEGERS, [*self._everything, *reached])

    def _satisfied(self, values: Values) -> Iterable[Term]:
        return chain(self._terms.met_by(values).equalities, self._ranges.satisfied(values))
