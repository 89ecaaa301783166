"""A filter is found by its two rarest equalities, in the spirit of the BE-Tree (Sadoghi and Jacobsen, SIGMOD 2011).

Filters that consist of these two are taken all at once. It needs a look-up for each pair of attributes, so it pays
where there are many subscriptions.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from operator import attrgetter

from overlay.systems.silbops.content.constraints import EQUAL
from overlay.systems.silbops.content.filters import Filter
from overlay.systems.silbops.content.values import Values
from overlay.systems.silbops.index.access import Access, Bucket
from overlay.systems.silbops.index.terms import Equality, Term, Terms


class Leaf:
    """The ``place`` of a term: buckets by the second term."""

    def __init__(self) -> None:
        self._terms = Terms()
        """The last two terms of a filter are those that it is found by, the rarest last."""
        self._others: Access = Access()
        """Filters with fewer than two equalities."""

    def __len__(self) -> int:
        return len(self._terms) + len(self._others)

    def add(self, number: int, one: Filter) -> Filter:
        if sum(part.op == EQUAL for part in one) < 2:
            return self._others.add(number, one)
        terms = self._terms.acquire(one)
        shared = self._terms.shared(terms)
        terms.sort(key=attrgetter("uses"), reverse=True)
        equalities = [term for term in terms if isinstance(term, Equality)]
        others = [term for term in terms if not isinstance(term, Equality)]
        terms = [*equalities[:-2], *others, *equalities[-2:]]
        self._terms.keep(number, terms)
        leaves = terms[-1].place
        if leaves is None:
            leaves = terms[-1].place = {}
        leaves.setdefault(terms[-2], Bucket()).add(number, terms, found_by=2)
        return shared

    def remove(self, number: int) -> None:
        if not self._terms.has(number):
            self._others.remove(number)
            return
        terms = self._terms.drop(number)
        first, second = terms[-1], terms[-2]
        bucket = first.place[second]
        bucket.remove(number, terms)
        if not bucket:
            del first.place[second]
            if not first.place:
                first.place = None

    def match(self, values: Values) -> array[int]:
        found = self._others.match(values)
        met = self._terms.met_by(values)
        for bucket in _leaves(met.equalities):
            bucket.collect(met, found)
        return found


def _leaves(known: Sequence[Term]) -> Iterator[Bucket]:
    for first in known:
        if first.place is not None:
            for second in known:
                bucket = first.place.get(second)
                if bucket is not None:
                    yield bucket
