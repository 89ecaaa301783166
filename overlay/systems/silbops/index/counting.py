"""Each constraint that a notification satisfies counts for its filters; those that reach their number match.

Carzaniga and Wolf, SIGCOMM 2003: the baseline of the paper. Equalities are looked up, orders stand in sorted maps, the
other constraints of an attribute are tested one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Generic

from sortedcontainers import SortedDict

from overlay.systems.silbops.content.constraints import ABOVE, BELOW
from overlay.systems.silbops.content.filters import Filter
from overlay.systems.silbops.content.values import KINDS, Value, Values
from overlay.systems.silbops.index.contract import Key
from overlay.systems.silbops.index.terms import Term, Terms

_ORDERS = (*ABOVE, *BELOW)


class Counting(Generic[Key]):
    """The ``place`` of a term: the keys of its filters."""

    def __init__(self) -> None:
        self._terms = Terms()
        self._filters: dict[Key, Sequence[Term]] = {}
        self._ordered: dict[tuple[str, str, str | None], SortedDict] = {}
        """By attribute, operator and kind: terms by the value of their constraint."""
        self._others: dict[str, dict[Term, None]] = {}
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
                self._enter(term)
            term.place[key] = None
        return self._terms.shared(terms)

    def remove(self, key: Key) -> None:
        terms = self._filters.pop(key)
        self._everything.pop(key, None)
        for term in terms:
            del term.place[key]
            if not term.place:
                term.place = None
                self._leave(term)
        self._terms.release(terms)

    def match(self, values: Values) -> list[Key]:
        counts: dict[Key, int] = {}
        for term in self._satisfied(values):
            for key in term.place:
                counts[key] = counts.get(key, 0) + 1
        filters = self._filters
        return [*self._everything, *(key for key, count in counts.items() if count == len(filters[key]))]

    def _satisfied(self, values: Values) -> Iterator[Term]:
        yield from self._terms.equalities(values)
        for name, value in values.items():
            yield from self._in_order(name, value)
            yield from (term for term in self._others.get(name, ()) if term.holds(value))

    def _in_order(self, name: str, value: Value) -> Iterator[Term]:
        kind = KINDS[type(value)]
        for op in _ORDERS:
            ordered = self._ordered.get((name, op, kind))
            if ordered is not None:
                is_included = len(op) == 2
                ends: dict[str, Any] = {"maximum": value} if op in ABOVE else {"minimum": value}
                for bound in ordered.irange(**ends, inclusive=(is_included, is_included)):
                    yield ordered[bound]

    def _enter(self, term: Term) -> None:
        one = term.constraint
        if one.op in _ORDERS:
            self._ordered.setdefault((one.name, one.op, one.kind), SortedDict())[one.value] = term
        elif not term.is_equality:
            self._others.setdefault(one.name, {})[term] = None

    def _leave(self, term: Term) -> None:
        one = term.constraint
        if one.op in _ORDERS:
            place = one.name, one.op, one.kind
            del self._ordered[place][one.value]
            if not self._ordered[place]:
                del self._ordered[place]
        elif not term.is_equality:
            del self._others[one.name][term]
            if not self._others[one.name]:
                del self._others[one.name]
