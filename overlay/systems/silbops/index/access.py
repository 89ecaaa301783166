"""A filter is found by the equality that fewest filters are found by; what is left of it is tested on candidates.

Access predicates (Fabret et al., SIGMOD 2001). Filters without an equality are found by the name that fewest are found
by, as OpIndex does with its pivot (Zhang et al., VLDB 2014), and there by a constraint, as in ``counting``. Where many
are found, those are tested that a notification has the next equality of, or the next attribute. A change takes the
same time however many filters there are, but for the sorted maps of these constraints.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Sequence

from overlay.systems.silbops.content.filters import Filter
from overlay.systems.silbops.content.values import Values
from overlay.systems.silbops.index.contract import INTEGERS
from overlay.systems.silbops.index.terms import Equality, Met, Need, Ranges, Term, Terms, Tested, need_of

FEW = 3
"""Filters of a bucket that are always tested, with its first one before them."""
VACANT = -1


class Bucket:
    """Filters in one place. Mostly there is one, and there may be a bucket for each second filter, so the first takes
    no more than its number."""

    __slots__ = ("_first", "_more")

    def __init__(self) -> None:
        self._first = VACANT
        self._more: _More | None = None

    def __len__(self) -> int:
        return (self._first != VACANT) + (0 if self._more is None else len(self._more))

    def add(self, number: int, terms: Sequence[Term], found_by: int) -> None:
        """``found_by``: how many of its terms a notification satisfies that comes here; they are the last."""
        if self._first == VACANT:
            self._first = number
            return
        if self._more is None:
            self._more = _More()
        self._more.add(number, terms, found_by)

    def remove(self, number: int, terms: Sequence[Term]) -> None:
        """``terms``: as it was added."""
        if number == self._first:
            self._first = VACANT
        elif self._more is not None:
            self._more.remove(number, terms)
            if not self._more:
                self._more = None

    def collect(self, met: Met, found: array[int]) -> None:
        """Add those that match."""
        if self._first != VACANT:
            met.sift((self._first,), found)
        if self._more is not None:
            self._more.collect(met, found)


class _More:
    """Those of which nothing is left to test, a few that are tested, and the others by what they need next. What is
    empty is not made."""

    __slots__ = ("_few", "_numbers", "_others", "_size", "_whole")

    def __init__(self) -> None:
        self._size = 0
        self._whole: dict[int, None] | None = None
        self._numbers: array[int] | None = None
        """Of these, as they are taken together; made when they are needed after a change."""
        self._few: list[int] | None = None
        self._others: dict[Need, dict[int, None]] | None = None

    def __len__(self) -> int:
        return self._size

    def add(self, number: int, terms: Sequence[Term], found_by: int) -> None:
        self._size += 1
        if len(terms) == found_by:
            if self._whole is None:
                self._whole = {}
            self._whole[number] = None
            self._numbers = None
        elif self._few is None:
            self._few = [number]
        elif len(self._few) < FEW:
            self._few.append(number)
        else:
            if self._others is None:
                self._others = {}
            self._others.setdefault(need_of(terms[0]), {})[number] = None

    def remove(self, number: int, terms: Sequence[Term]) -> None:
        self._size -= 1
        if self._whole is not None and number in self._whole:
            del self._whole[number]
            self._numbers = None
        elif self._few is not None and number in self._few:
            self._few.remove(number)
        elif self._others is not None:
            need = need_of(terms[0])
            del self._others[need][number]
            if not self._others[need]:
                del self._others[need]

    def collect(self, met: Met, found: array[int]) -> None:
        if self._whole:
            if self._numbers is None:
                self._numbers = array(INTEGERS, self._whole)
            found.extend(self._numbers)
        if self._few:
            met.sift(self._few, found)
        if self._others:
            for need in met.needs:
                several = self._others.get(need)
                if several is not None:
                    met.sift(several, found)


class Access:
    """The ``place`` of a term: the bucket of filters that are found by it."""

    def __init__(self) -> None:
        self._terms: Terms = Terms()
        """The last term of a filter is the one that it is found by."""
        self._ranges = Ranges()
        """Terms that filters without an equality are found by."""
        self._named: Counter[str] = Counter()
        """How many of these filters are found by a name."""
        self._everything: dict[int, None] = {}

    def __len__(self) -> int:
        return len(self._terms)

    def add(self, number: int, one: Filter) -> Filter:
        found = self._terms.acquire(one)
        if not found:
            self._terms.keep(number, ())
            self._everything[number] = None
            return one
        equalities = [term for term in found if isinstance(term, Equality)]
        rarest: Term = min(equalities, key=_crowd) if equalities else min(found, key=self._crowd)
        others = [term for term in found if term is not rarest and isinstance(term, Tested)]
        others.sort(key=_is_of_context)
        terms = (*(term for term in equalities if term is not rarest), *others, rarest)
        self._terms.keep(number, terms)
        if rarest.place is None:
            rarest.place = Bucket()
            if isinstance(rarest, Tested):
                self._ranges.enter(rarest)
        if isinstance(rarest, Tested):
            self._named[rarest.constraint.name] += 1
        rarest.place.add(number, terms, found_by=1)
        return self._terms.shared(found)

    def remove(self, number: int) -> None:
        terms = self._terms.drop(number)
        if not terms:
            del self._everything[number]
            return
        rarest = terms[-1]
        rarest.place.remove(number, terms)
        if isinstance(rarest, Tested):
            self._named[rarest.constraint.name] -= 1
            if not self._named[rarest.constraint.name]:
                del self._named[rarest.constraint.name]
        if not rarest.place:
            rarest.place = None
            if isinstance(rarest, Tested):
                self._ranges.leave(rarest)

    def match(self, values: Values) -> array[int]:
        found = array(INTEGERS, self._everything)
        met = self._terms.met_by(values)
        for term in met.equalities:
            if term.place is not None:
                term.place.collect(met, found)
        for tested in self._ranges.satisfied(values):
            met.add(tested)
            tested.place.collect(met, found)
        return found

    def _crowd(self, term: Term) -> tuple[int, int]:
        """Of those by one name, the term of most filters."""
        return self._named[term.constraint.name], -term.uses


def _crowd(term: Term) -> int:
    """How many filters are found by it."""
    return len(term.place) if term.place else 0


def _is_of_context(term: Term) -> bool:
    """The siena arm writes context into every notification, so a constraint of content refutes sooner."""
    return term.constraint.name.startswith("@")
