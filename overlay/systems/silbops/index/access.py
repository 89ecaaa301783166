"""A filter is found by the equality that fewest filters are found by; what is left of it is tested on candidates.

Access predicates (Fabret et al., SIGMOD 2001). Filters without an equality are found by the name that fewest are found
by, as OpIndex does with its pivot (Zhang et al., VLDB 2014), and there by a constraint, as in ``counting``. A change
takes the same time however many filters there are, but for the sorted maps of these constraints.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Generic

from overlay.systems.silbops.content.filters import Filter
from overlay.systems.silbops.content.values import Values
from overlay.systems.silbops.index.contract import Key
from overlay.systems.silbops.index.terms import Ranges, Sieve, Term, Terms


class Bucket(Generic[Key]):
    """Filters in one place: those of which nothing is left to test, and those with their terms."""

    __slots__ = ("tested", "whole")

    def __init__(self) -> None:
        self.whole: dict[Key, None] = {}
        self.tested: dict[Key, Sequence[Term]] = {}

    def __len__(self) -> int:
        return len(self.whole) + len(self.tested)

    def add(self, key: Key, terms: Sequence[Term], found_by: int) -> None:
        """``found_by``: how many of its terms a notification satisfies that comes here; they are the last."""
        if len(terms) == found_by:
            self.whole[key] = None
        else:
            self.tested[key] = terms

    def remove(self, key: Key) -> None:
        if key in self.tested:
            del self.tested[key]
        else:
            del self.whole[key]

    def collect(self, sieve: Sieve, found: list[Key]) -> None:
        """Add those that match."""
        if self.whole:
            found.extend(self.whole)
        if self.tested:
            sieve.collect(self.tested, found)


class Access(Generic[Key]):
    """The ``place`` of a term: the bucket of filters that are found by it."""

    def __init__(self) -> None:
        self._terms: Terms = Terms()
        self._filters: dict[Key, Sequence[Term]] = {}
        """The last term is the one that it is found by."""
        self._ranges = Ranges()
        """Terms that filters without an equality are found by."""
        self._named: Counter[str] = Counter()
        """How many of these filters are found by a name."""
        self._everything: dict[Key, None] = {}

    def __len__(self) -> int:
        return len(self._filters)

    def add(self, key: Key, one: Filter) -> Filter:
        found = self._terms.acquire(one)
        if not found:
            self._filters[key] = ()
            self._everything[key] = None
            return one
        equalities = [term for term in found if term.is_equality]
        rarest = min(equalities, key=_crowd) if equalities else min(found, key=self._crowd)
        others = [term for term in found if term is not rarest and not term.is_equality]
        terms = (*(term for term in equalities if term is not rarest), *others, rarest)
        self._filters[key] = terms
        if rarest.place is None:
            rarest.place = Bucket()
            if not equalities:
                self._ranges.enter(rarest)
        if not equalities:
            self._named[rarest.constraint.name] += 1
        rarest.place.add(key, terms, found_by=1)
        return self._terms.shared(found)

    def remove(self, key: Key) -> None:
        terms = self._filters.pop(key)
        if not terms:
            del self._everything[key]
            return
        rarest = terms[-1]
        rarest.place.remove(key)
        if not rarest.is_equality:
            self._named[rarest.constraint.name] -= 1
            if not self._named[rarest.constraint.name]:
                del self._named[rarest.constraint.name]
        if not rarest.place:
            rarest.place = None
            if not rarest.is_equality:
                self._ranges.leave(rarest)
        self._terms.release(terms)

    def match(self, values: Values) -> list[Key]:
        found = list(self._everything)
        known = self._terms.equalities(values)
        sieve = Sieve(known, values)
        for term in known:
            if term.place is not None:
                term.place.collect(sieve, found)
        for term in self._ranges.satisfied(values):
            sieve.known.add(term)
            term.place.collect(sieve, found)
        return found

    def _crowd(self, term: Term) -> tuple[int, int]:
        """Of those by one name, the term of most filters."""
        return self._named[term.constraint.name], -term.uses


def _crowd(term: Term) -> int:
    """How many filters are found by it."""
    return len(term.place) if term.place else 0
