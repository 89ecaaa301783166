"""Each constraint that a notification satisfies counts for its filters; those that reach their number match.

Carzaniga and Wolf, SIGCOMM 2003: the baseline of the paper. Equalities are looked up, orders stand in sorted maps, the
other constraints of an attribute are tested one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Generic

from overlay.systems.silbops.content.filters import Filter
from overlay.systems.silbops.content.values import Values
from overlay.systems.silbops.index.contract import Key
from overlay.systems.silbops.index.terms import Ranges, Term, Terms


class Counting(Generic[Key]):
    """The ``place`` of a term: the keys of its filters."""

    def __init__(self) -> None:
        self._terms = Terms()
        self._filters: dict[Key, Sequence[Term]] = {}
        self._ranges = Ranges()
        self._everything: dict[Key, None] = {}

    def __len__(self) -> int:
        return len(self._filters)

    def add(self, key: Key, one: Filter) -> Filter:
        terms = self._filters[key] = tuple(self._terms.acquire(one))
        if not terms:
            self._everything[key] = None
        for term in terms:
            if term.place is None:
                term.place = {}
                if not term.is_equality:
                    self._ranges.enter(term)
            term.place[key] = None
        return self._terms.shared(terms)

    def remove(self, key: Key) -> None:
        terms = self._filters.pop(key)
        self._everything.pop(key, None)
        for term in terms:
            del term.place[key]
            if not term.place:
                term.place = None
                if not term.is_equality:
                    self._ranges.leave(term)
        self._terms.release(terms)

    def match(self, values: Values) -> list[Key]:
        counts: dict[Key, int] = {}
        for term in self._satisfied(values):
            for key in term.place:
                counts[key] = counts.get(key, 0) + 1
        filters = self._filters
        return [*self._everything, *(key for key, count in counts.items() if count == len(filters[key]))]

    def _satisfied(self, values: Values) -> Iterable[Term]:
        return chain(self._terms.equalities(values), self._ranges.satisfied(values))
