"""Constraints as numbers: equal ones of all filters have the same.

Filters share their constraints, so each is kept once and tested once for a notification. Equalities, which most
constraints are, have positive numbers: those that a notification satisfies are looked up by its attributes. All others
have negative numbers and are tested when a filter needs them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from overlay.systems.silbops.content.constraints import EQUAL, Constraint, satisfies
from overlay.systems.silbops.content.filters import Filter
from overlay.systems.silbops.content.values import KINDS, Values

Term = int
Sieve = tuple[set[Term], set[Term]]
"""Terms that a notification is known to satisfy, among them all of its equalities, and not to satisfy."""


class Terms:
    def __init__(self) -> None:
        self._terms: dict[tuple[Any, ...], Term] = {}
        """By constraint. A plain tuple of the same fields is the same key, and sooner made."""
        self._constraints: dict[Term, Constraint] = {}
        self._uses: dict[Term, int] = {}
        self._free: list[Term] = []
        """Numbers without a sign that may be used again."""

    def __getitem__(self, term: Term) -> Constraint:
        return self._constraints[term]

    def uses(self, term: Term) -> int:
        """How many filters have it."""
        return self._uses[term]

    def acquire(self, one: Filter) -> list[Term]:
        """The terms of a filter that is new."""
        return [self._acquire(part) for part in one]

    def _acquire(self, part: Constraint) -> Term:
        term = self._terms.get(part)
        if term is None:
            number = self._free.pop() if self._free else len(self._terms) + 1
            term = self._terms[part] = number if part.op == EQUAL else -number
            self._constraints[term], self._uses[term] = part, 0
        self._uses[term] += 1
        return term

    def release(self, terms: Sequence[Term]) -> dict[Term, Constraint]:
        """Of a filter that goes. Returns those that no filter has any more."""
        gone = {}
        for term in terms:
            self._uses[term] -= 1
            if not self._uses[term]:
                del self._uses[term]
                gone[term] = part = self._constraints.pop(term)
                del self._terms[part]
                self._free.append(abs(term))
        return gone

    def equalities(self, values: Values) -> set[Term]:
        """Those that a notification satisfies."""
        terms, kinds = self._terms, KINDS
        found: set[Any] = {terms.get((name, EQUAL, value, kinds[type(value)])) for name, value in values.items()}
        found.discard(None)
        return found

    def pass_all(self, terms: Sequence[Term], values: Values, sieve: Sieve) -> bool:
        """Whether the notification satisfies all, of which ``sieve`` remembers what was found."""
        known, refuted = sieve
        for term in terms:
            if term in known:
                continue
            if term > 0 or term in refuted:
                return False
            part = self._constraints[term]
            value = values.get(part.name)
            if value is None or not satisfies(value, part):
                refuted.add(term)
                return False
            known.add(term)
        return True
