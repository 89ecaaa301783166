"""Constraints as objects that filters share: equal ones of all filters are one term.

So each is kept once, and tested once for a notification. The equalities that a notification satisfies, as most
constraints are equalities, are looked up by its attributes; the others are tested when a filter needs them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from overlay.systems.silbops.content.constraints import ANY, COMPARISONS, EQUAL, Compare, Constraint
from overlay.systems.silbops.content.filters import Filter
from overlay.systems.silbops.content.values import BOOL, KINDS, NUMBER, TEXT, Value, Values

_TYPES = {BOOL: (bool,), NUMBER: (int, float), TEXT: (str,), None: (bool, int, float, str)}
"""Of values, by the kind of a constraint; ``any`` has none."""


class Term:
    __slots__ = ("compare", "constraint", "is_equality", "place", "types", "uses", "value")

    def __init__(self, one: Constraint) -> None:
        self.constraint = one
        self.is_equality = one.op == EQUAL
        self.uses = 0
        """How many filters have it."""
        self.place: Any = None
        """What an index keeps of the filters that it finds by this term."""
        self.types, self.value = _TYPES[one.kind], one.value
        self.compare: Compare = _always if one.op == ANY else COMPARISONS[one.op]

    def holds(self, value: Value | None) -> bool:
        """``value``: of the attribute, None without it."""
        return type(value) in self.types and self.compare(value, self.value)


def _always(value: Value, wanted: None) -> bool:
    return True


class Terms:
    def __init__(self) -> None:
        self._terms: dict[tuple[Any, ...], Term] = {}
        """By constraint. A plain tuple of the same fields is the same key, and sooner made."""

    def acquire(self, one: Filter) -> list[Term]:
        """The terms of a filter that is new."""
        known, found = self._terms, []
        for part in one:
            term = known.get(part)
            if term is None:
                term = known[part] = Term(part)
            term.uses += 1
            found.append(term)
        return found

    @staticmethod
    def shared(terms: Iterable[Term]) -> Filter:
        """A filter of these terms, in their order."""
        return tuple([term.constraint for term in terms])

    def release(self, terms: Iterable[Term]) -> None:
        """Of a filter that goes."""
        for term in terms:
            term.uses -= 1
            if not term.uses:
                del self._terms[term.constraint]

    def equalities(self, values: Values) -> list[Term]:
        """Those that a notification satisfies, in the order of its attributes."""
        terms, kinds = self._terms, KINDS
        found = [terms.get((name, EQUAL, value, kinds[type(value)])) for name, value in values.items()]
        return [term for term in found if term is not None]


class Sieve:
    """What is known of the terms that one notification satisfies."""

    __slots__ = ("_refuted", "_values", "known")

    def __init__(self, known: Iterable[Term], values: Values) -> None:
        """``known`` has all equalities that it satisfies."""
        self.known, self._refuted, self._values = set(known), set[Term](), values

    def passes(self, term: Term) -> bool:
        """Whether the notification satisfies a term that is no equality and is not among ``known``."""
        if term in self._refuted:
            return False
        if term.holds(self._values.get(term.constraint.name)):
            self.known.add(term)
            return True
        self._refuted.add(term)
        return False

    def collect(self, candidates: dict[Any, Sequence[Term]], found: list[Any]) -> None:
        """Add the keys all terms of which it satisfies."""
        known, passes = self.known, self.passes
        for key, terms in candidates.items():
            for term in terms:
                if term not in known and (term.is_equality or not passes(term)):
                    break
            else:
                found.append(key)
