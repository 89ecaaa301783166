"""Each constraint that a notification satisfies counts for its filters; those that reach their number match.

Carzaniga and Wolf, SIGCOMM 2003: the baseline of the paper. Equalities are looked up, orders stand in sorted maps, the
other constraints of an attribute are tested one by one.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable
from itertools import chain

from overlay.systems.silbops.content.filters import Filter
from overlay.systems.silbops.content.values import Values
from overlay.systems.silbops.index.contract import INTEGERS
from overlay.systems.silbops.index.terms import Ranges, Term, Terms, Tested

MANY = 1_000
"""Satisfied terms of filters from which on NumPy counts them sooner, which adds 20 MB to a process."""
NEVER = -1


class Counting:
    """The ``place`` of a term: the numbers of its filters."""

    def __init__(self) -> None:
        self._terms = Terms()
        self._needed: array[int] = array(INTEGERS)
        """By number of a filter: its terms; ``NEVER`` if there are none, or no such filter. The last has some."""
        self._ranges = Ranges()
        self._everything: dict[int, None] = {}

    def __len__(self) -> int:
        return len(self._terms)

    def add(self, number: int, one: Filter) -> Filter:
        terms = self._terms.acquire(one)
        self._terms.keep(number, terms)
        if not terms:
            self._everything[number] = None
        elif number < len(self._needed):
            self._needed[number] = len(terms)
        else:
            self._needed.extend([NEVER] * (number - len(self._needed)))
            self._needed.append(len(terms))
        for term in terms:
            if term.place is None:
                term.place = {}
                if isinstance(term, Tested):
                    self._ranges.enter(term)
            term.place[number] = None
        return self._terms.shared(terms)

    def remove(self, number: int) -> None:
        terms = self._terms.drop(number)
        self._everything.pop(number, None)
        if terms:
            self._needed[number] = NEVER
            while self._needed and self._needed[-1] == NEVER:
                self._needed.pop()
        for term in terms:
            del term.place[number]
            if not term.place:
                term.place = None
                if isinstance(term, Tested):
                    self._ranges.leave(term)

    def match(self, values: Values) -> array[int]:
        """Filters without terms first, the others in order of their numbers."""
        places = [term.place for term in self._satisfied(values)]
        numbers = array(INTEGERS, chain.from_iterable(places))
        reached = self._reached(numbers) if len(numbers) < MANY else self._reached_of_many(numbers)
        return array(INTEGERS, [*self._everything, *reached])

    def _reached(self, numbers: array[int]) -> list[int]:
        needed = self._needed
        return sorted(number for number, count in Counter(numbers).items() if count == needed[number])

    def _reached_of_many(self, numbers: array[int]) -> list[int]:
        """The same. A dictionary of tens of thousands of counts is slow, as it is not in the processor's cache."""
        import numpy as np

        counts = np.bincount(np.frombuffer(numbers, np.intc), minlength=len(self._needed))
        found: list[int] = np.flatnonzero(counts == np.frombuffer(self._needed, np.intc)).tolist()
        return found

    def _satisfied(self, values: Values) -> Iterable[Term]:
        return chain(self._terms.met_by(values).equalities, self._ranges.satisfied(values))
