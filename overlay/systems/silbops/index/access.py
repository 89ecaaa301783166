"""A filter is found by the equality that fewest filters are found by; what is left of it is tested on candidates.

Access predicates (Fabret et al., SIGMOD 2001); filters without an equality are found by the name that fewest are found
by, as OpIndex does with its pivot (Zhang et al., VLDB 2014). A change takes the same time however many filters there
are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic

from overlay.systems.silbops.content.filters import Filter
from overlay.systems.silbops.content.values import Values
from overlay.systems.silbops.index.contract import Key
from overlay.systems.silbops.index.terms import Sieve, Term, Terms


class Bucket(Generic[Key]):
    """Filters in one place: those of which nothing is left to test, and those with their terms."""

    __slots__ = ("tested", "whole")

    def __init__(self) -> None:
        self.whole: dict[Key, None] = {}
        self.tested: dict[Key, Sequence[Term]] = {}

    def __len__(self) -> int:
        return len(self.whole) + len(self.tested)

    def add(self, key: Key, terms: Sequence[Term], found_by: int) -> None:
        """``found_by``: how many of its terms a notification satisfies that comes here."""
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
    def __init__(self) -> None:
        self._terms: Terms = Terms()
        self._filters: dict[Key, Sequence[Term]] = {}
        """The last term is the one that it is found by."""
        self._named: dict[str, Bucket[Key]] = {}
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
        self._bucket(rarest).add(key, terms, found_by=rarest.is_equality)
        return self._terms.shared(found)

    def remove(self, key: Key) -> None:
        terms = self._filters.pop(key)
        if not terms:
            del self._everything[key]
            return
        bucket = self._bucket(terms[-1])
        bucket.remove(key)
        if not bucket:
            self._drop_bucket(terms[-1])
        self._terms.release(terms)

    def match(self, values: Values) -> list[Key]:
        found = list(self._everything)
        known = self._terms.equalities(values)
        buckets = [term.place for term in known]
        if self._named:
            buckets += map(self._named.get, values)
        sieve = Sieve(known, values)
        for bucket in buckets:
            if bucket is not None:
                bucket.collect(sieve, found)
        return found

    def _bucket(self, term: Term) -> Bucket[Key]:
        if not term.is_equality:
            return self._named.setdefault(term.constraint.name, Bucket())
        if term.place is None:
            term.place = Bucket()
        place: Bucket[Key] = term.place
        return place

    def _drop_bucket(self, term: Term) -> None:
        if term.is_equality:
            term.place = None
        else:
            del self._named[term.constraint.name]

    def _crowd(self, term: Term) -> int:
        """How many filters without an equality are found by the name."""
        bucket = self._named.get(term.constraint.name)
        return len(bucket) if bucket else 0


def _crowd(term: Term) -> int:
    """How many filters are found by an equality."""
    return len(term.place) if term.place else 0
