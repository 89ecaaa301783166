"""A filter is found by its two rarest equalities, in the spirit of the BE-Tree (Sadoghi and Jacobsen, SIGMOD 2011).

Filters that consist of these two are taken all at once. It needs a look-up for each pair of attributes, so it pays
where there are many subscriptions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Generic

from overlay.systems.silbops.content.constraints import EQUAL
from overlay.systems.silbops.content.filters import Filter
from overlay.systems.silbops.content.values import Values
from overlay.systems.silbops.index.access import Access, Bucket
from overlay.systems.silbops.index.contract import Key
from overlay.systems.silbops.index.terms import Sieve, Term, Terms


class Leaf(Generic[Key]):
    """The ``place`` of a term: buckets by the second term."""

    def __init__(self) -> None:
        self._terms = Terms()
        self._filters: dict[Key, Sequence[Term]] = {}
        """The last two terms are those that it is found by, the rarest last."""
        self._others: Access[Key] = Access()
        """Filters with fewer than two equalities."""

    def __len__(self) -> int:
        return len(self._filters) + len(self._others)

    def add(self, key: Key, one: Filter) -> Filter:
        if sum(part.op == EQUAL for part in one) < 2:
            return self._others.add(key, one)
        terms = self._terms.acquire(one)
        shared = self._terms.shared(terms)
        terms.sort(key=attrgetter("uses"), reverse=True)
        equalities = [term for term in terms if term.is_equality]
        others = [term for term in terms if not term.is_equality]
        terms = [*equalities[:-2], *others, *equalities[-2:]]
        self._filters[key] = tuple(terms)
        leaves = terms[-1].place
        if leaves is None:
            leaves = terms[-1].place = {}
        leaves.setdefault(terms[-2], Bucket()).add(key, self._filters[key], found_by=2)
        return shared

    def remove(self, key: Key) -> None:
        if key not in self._filters:
            self._others.remove(key)
            return
        terms = self._filters.pop(key)
        first, second = terms[-1], terms[-2]
        bucket = first.place[second]
        bucket.remove(key)
        if not bucket:
            del first.place[second]
            if not first.place:
                first.place = None
        self._terms.release(terms)

    def match(self, values: Values) -> list[Key]:
        found = self._others.match(values)
        known = self._terms.equalities(values)
        buckets: list[Bucket[Key]] = list(_leaves(known))
        sieve = Sieve(known, values)
        for bucket in buckets:
            bucket.collect(sieve, found)
        return found


def _leaves(known: Sequence[Term]) -> Iterator[Bucket[Key]]:
    for first in known:
        if first.place is not None:
            for second in known:
                bucket = first.place.get(second)
                if bucket is not None:
                    yield bucket
