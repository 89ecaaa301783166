"""A filter is found by the equality that fewest filters are found by; what is left of it is tested on candidates.

Access predicates (Fabret et al., SIGMOD 2001); filters without an equality are found by the name that fewest are found
by, as OpIndex does with its pivot (Zhang et al., VLDB 2014). A change takes the same time however many filters there
are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Generic

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


class Access(Generic[Key]):
    def __init__(self) -> None:
        self._terms = Terms()
        self._filters: dict[Key, Sequence[Term]] = {}
        """The first term is the one that it is found by."""
        self._equal: dict[Term, Bucket[Key]] = {}
        self._named: dict[str, Bucket[Key]] = {}
        self._everything: dict[Key, None] = {}

    def __len__(self) -> int:
        return len(self._filters)

    def add(self, key: Key, one: Filter) -> None:
        terms = self._terms.acquire(one)
        if not terms:
            self._everything[key] = None
        else:
            _bring_first(terms, min(terms, key=self._crowd))
            self._bucket(terms[0]).add(key, terms, found_by=terms[0] > 0)
        self._filters[key] = tuple(terms)

    def remove(self, key: Key) -> None:
        terms = self._filters.pop(key)
        if not terms:
            del self._everything[key]
            return
        bucket = self._bucket(terms[0])
        bucket.remove(key)
        if not bucket:
            places, place = self._place(terms[0])
            del places[place]
        self._terms.release(terms)

    def match(self, values: Values) -> list[Key]:
        found = list(self._everything)
        known = self._terms.equalities(values)
        sieve = known, set[Term]()
        buckets = [self._equal.get(term) for term in known] + [self._named.get(name) for name in values]
        collect(buckets, values, sieve, self._terms, found)
        return found

    def _crowd(self, term: Term) -> tuple[bool, int]:
        """Equalities first, then where fewest others are."""
        places, place = self._place(term)
        bucket = places.get(place)
        return term < 0, len(bucket) if bucket else 0

    def _bucket(self, term: Term) -> Bucket[Key]:
        places, place = self._place(term)
        bucket = places.get(place)
        if bucket is None:
            bucket = places[place] = Bucket()
        return bucket

    def _place(self, term: Term) -> tuple[dict[Any, Bucket[Key]], Term | str]:
        return (self._equal, term) if term > 0 else (self._named, self._terms[term].name)


def collect(
    buckets: Iterable[Bucket[Key] | None], values: Values, sieve: Sieve, terms: Terms, found: list[Key]
) -> None:
    """Add the filters in these places that match."""
    pass_all = terms.pass_all
    for bucket in buckets:
        if bucket is not None:
            if bucket.whole:
                found.extend(bucket.whole)
            for key, left in bucket.tested.items():
                if pass_all(left, values, sieve):
                    found.append(key)


def _bring_first(terms: list[Term], term: Term) -> None:
    at = terms.index(term)
    terms[0], terms[at] = terms[at], terms[0]
