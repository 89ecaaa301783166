"""A filter is found by its two rarest equalities, in the spirit of the BE-Tree (Sadoghi and Jacobsen, SIGMOD 2011).

Filters that consist of these two are taken all at once. It needs a look-up for each pair of attributes, so it pays
where there are many subscriptions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Generic

from overlay.systems.silbops.content.filters import Filter
from overlay.systems.silbops.content.values import Values
from overlay.systems.silbops.index.access import Access, Bucket, collect
from overlay.systems.silbops.index.contract import Key
from overlay.systems.silbops.index.terms import Term, Terms


class Leaf(Generic[Key]):
    def __init__(self) -> None:
        self._terms = Terms()
        self._filters: dict[Key, Sequence[Term]] = {}
        """The first two terms are those that it is found by."""
        self._pairs: dict[Term, dict[Term, Bucket[Key]]] = {}
        self._others: Access[Key] = Access()
        """Filters with fewer than two equalities."""

    def __len__(self) -> int:
        return len(self._filters) + len(self._others)

    def add(self, key: Key, one: Filter) -> None:
        terms = self._terms.acquire(one)
        terms.sort(key=self._rarity)
        if len(terms) < 2 or terms[1] < 0:
            self._terms.release(terms)
            self._others.add(key, one)
            return
        self._filters[key] = tuple(terms)
        leaves = self._pairs.setdefault(terms[0], {})
        leaves.setdefault(terms[1], Bucket()).add(key, terms, found_by=2)

    def remove(self, key: Key) -> None:
        if key not in self._filters:
            self._others.remove(key)
            return
        terms = self._filters.pop(key)
        leaves = self._pairs[terms[0]]
        bucket = leaves[terms[1]]
        bucket.remove(key)
        if not bucket:
            del leaves[terms[1]]
            if not leaves:
                del self._pairs[terms[0]]
        self._terms.release(terms)

    def match(self, values: Values) -> list[Key]:
        found = self._others.match(values)
        known = self._terms.equalities(values)
        sieve = known, set[Term]()
        collect(self._leaves(list(known)), values, sieve, self._terms, found)
        return found

    def _leaves(self, known: Sequence[Term]) -> Iterator[Bucket[Key]]:
        for first in known:
            leaves = self._pairs.get(first)
            if leaves is not None:
                for second in known:
                    bucket = leaves.get(second)
                    if bucket is not None:
                        yield bucket

    def _rarity(self, term: Term) -> tuple[bool, int, Term]:
        """Equalities first, the rarest of them first."""
        return term < 0, self._terms.uses(term), term
