"""Constraints as objects that filters share: equal ones of all filters are one term.

So each is kept once, and tested once for a notification. The equalities that a notification satisfies, as most
constraints are equalities, are looked up by its attributes; the others are found in order, or tested when a filter
needs them.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import Any, cast

from sortedcontainers import SortedDict

from overlay.systems.silbops.content.constraints import ABOVE, ANY, BELOW, COMPARISONS, EQUAL, Compare, Constraint
from overlay.systems.silbops.content.filters import Filter
from overlay.systems.silbops.content.values import BOOL, KINDS, NUMBER, TEXT, Value, Values

_TYPES = {BOOL: (bool,), NUMBER: (int, float), TEXT: (str,), None: (bool, int, float, str)}
"""Of values, by the kind of a constraint; ``any`` has none."""
_ORDERS = (*ABOVE, *BELOW)


class Term:
    __slots__ = ("constraint", "met", "place", "uses")

    def __init__(self, one: Constraint) -> None:
        self.constraint = one
        self.uses = 0
        """How many filters have it."""
        self.met = 0
        """The number of the last notification that satisfies it."""
        self.place: Any = None
        """What an index keeps of the filters that it finds by this term."""


class Equality(Term):
    """A look-up finds it. There may be as many as filters, so it has nothing of its own."""

    __slots__ = ()


class Tested(Term):
    """A test tells whether a value satisfies it."""

    __slots__ = ("_compare", "_types", "refuted", "value")

    def __init__(self, one: Constraint) -> None:
        super().__init__(one)
        self.refuted = 0
        """The number of the last notification that was seen not to satisfy it."""
        self.value = one.value
        self._types: tuple[type, ...] = _TYPES[one.kind]
        self._compare: Compare = _always if one.op == ANY else COMPARISONS[one.op]

    def holds(self, value: Value | None) -> bool:
        """``value``: of the attribute, None without it."""
        return type(value) in self._types and self._compare(value, self.value)


Need = Term | str
"""What a notification has if it satisfies a term: the term itself if it is an equality, else its attribute."""


def need_of(term: Term) -> Need:
    return term if isinstance(term, Equality) else term.constraint.name


def _always(value: Value, wanted: None) -> bool:
    return True


class Terms:
    def __init__(self) -> None:
        self._equalities: dict[Any, dict[Value, Equality]] = {}
        """By attribute, and (attribute, true) for the values true and false, which Python calls equal to 1 and 0. By
        value there: a text, a number or one of these two."""
        self._others: dict[Constraint, Tested] = {}
        self._filters: list[tuple[Term, ...] | None] = []
        """By their numbers, which are used again, so it does not shrink. A dictionary takes six times as much."""
        self._number = 0
        self._notifications = 0

    def __len__(self) -> int:
        """Filters that are kept."""
        return self._number

    def acquire(self, one: Filter) -> list[Term]:
        """The terms of a filter that is new."""
        found = []
        for part in one:
            term = self._get(part)
            if term is None:
                term = self._enter(part)
            term.uses += 1
            found.append(term)
        return found

    @staticmethod
    def shared(terms: Iterable[Term]) -> Filter:
        """A filter of these terms, in their order."""
        return tuple([term.constraint for term in terms])

    def keep(self, number: int, terms: Iterable[Term]) -> None:
        """The terms of a filter that is new, in the order in which its index wants them."""
        filters = self._filters
        while len(filters) <= number:
            filters.append(None)
        filters[number] = tuple(terms)
        self._number += 1

    def has(self, number: int) -> bool:
        """Whether its terms are kept."""
        return number < len(self._filters) and self._filters[number] is not None

    def drop(self, number: int) -> tuple[Term, ...]:
        """The terms of a filter that goes. Those that no other filter has are gone."""
        terms = self._filters[number]
        if terms is None:
            raise KeyError(number)
        self._filters[number] = None
        self._number -= 1
        for term in terms:
            term.uses -= 1
            if not term.uses:
                self._leave(term)
        return terms

    def met_by(self, values: Values) -> Met:
        """What is known of the terms that a notification satisfies: its equalities."""
        self._notifications += 1
        now, by_attribute, found = self._notifications, self._equalities, []
        for name, value in values.items():
            by_value = by_attribute.get(name if type(value) is not bool else (name, True))
            if by_value is not None:
                term = by_value.get(value)
                if term is not None:
                    term.met = now
                    found.append(term)
        return Met(now, values, self._filters, found)

    def _get(self, part: Constraint) -> Term | None:
        if part.op != EQUAL:
            return self._others.get(part)
        by_value = self._equalities.get(_attribute(part))
        return None if by_value is None else by_value.get(part.value)  # type: ignore[arg-type]  # an equality has one

    def _enter(self, part: Constraint) -> Term:
        if part.op != EQUAL:
            tested = self._others[part] = Tested(part)
            return tested
        term = Equality(part)
        self._equalities.setdefault(_attribute(part), {})[part.value] = term  # type: ignore[index]  # as above
        return term

    def _leave(self, term: Term) -> None:
        part = term.constraint
        if not isinstance(term, Equality):
            del self._others[part]
            return
        attribute = _attribute(part)
        by_value = self._equalities[attribute]
        del by_value[part.value]  # type: ignore[arg-type]  # as above
        if not by_value:
            del self._equalities[attribute]


def _attribute(part: Constraint) -> Any:
    return part.name if part.kind is not BOOL else (part.name, True)


class _Order:
    """Terms of one attribute and operator by the value of their constraint. The terms that a value satisfies are those
    up to a place, or from there on."""

    __slots__ = ("_by_value", "_find", "_is_above", "_terms", "_values")

    def __init__(self, op: str) -> None:
        self._by_value: SortedDict = SortedDict()
        self._values: list[Any] | None = None
        self._terms: list[Tested] = []
        """Both in order; made when they are needed after a change."""
        self._is_above = op in ABOVE
        self._find = bisect_right if op in (">=", "<") else bisect_left

    def __bool__(self) -> bool:
        return bool(self._by_value)

    def enter(self, term: Tested) -> None:
        self._by_value[term.value] = term
        self._values = None

    def leave(self, term: Tested) -> None:
        del self._by_value[term.value]
        self._values = None

    def satisfied(self, value: Value) -> list[Tested]:
        if self._values is None:
            self._values, self._terms = list(self._by_value), list(self._by_value.values())
        at = self._find(self._values, value)
        return self._terms[:at] if self._is_above else self._terms[at:]


class Ranges:
    """Terms that are no equality: orders by value, the others of an attribute one by one."""

    def __init__(self) -> None:
        self._ordered: dict[tuple[str, str | None], dict[str, _Order]] = {}
        """By attribute and kind, then by operator."""
        self._others: dict[str, dict[Tested, None]] = {}

    def enter(self, term: Tested) -> None:
        one = term.constraint
        if one.op in _ORDERS:
            by_operator = self._ordered.setdefault((one.name, one.kind), {})
            if one.op not in by_operator:
                by_operator[one.op] = _Order(one.op)
            by_operator[one.op].enter(term)
        else:
            self._others.setdefault(one.name, {})[term] = None

    def leave(self, term: Tested) -> None:
        one = term.constraint
        if one.op in _ORDERS:
            by_operator = self._ordered[one.name, one.kind]
            by_operator[one.op].leave(term)
            if not by_operator[one.op]:
                del by_operator[one.op]
            if not by_operator:
                del self._ordered[one.name, one.kind]
        else:
            del self._others[one.name][term]
            if not self._others[one.name]:
                del self._others[one.name]

    def satisfied(self, values: Values) -> list[Tested]:
        """Those that a notification satisfies."""
        found: list[Tested] = []
        for name, value in values.items():
            by_operator = self._ordered.get((name, KINDS[type(value)])) if self._ordered else None
            if by_operator is not None:
                for order in by_operator.values():
                    found += order.satisfied(value)
            others = self._others.get(name) if self._others else None
            if others is not None:
                found += [term for term in others if term.holds(value)]
        return found


class Met:
    """The terms that one notification satisfies, as far as filters have asked."""

    __slots__ = ("_filters", "_number", "_values", "equalities", "needs")

    def __init__(
        self, number: int, values: Values, filters: list[tuple[Term, ...] | None], equalities: list[Equality]
    ) -> None:
        """``filters``: their terms, by number."""
        self._number, self._values, self._filters = number, values, filters
        self.equalities = equalities
        """All that it satisfies, in the order of its attributes."""
        self.needs: list[Need] = [*equalities, *values]
        """All that it has."""

    def add(self, term: Tested) -> None:
        """It satisfies this one."""
        term.met = self._number

    def has(self, term: Term) -> bool:
        if term.met == self._number:
            return True
        if not isinstance(term, Tested) or term.refuted == self._number:
            return False
        if term.holds(self._values.get(term.constraint.name)):
            term.met = self._number
            return True
        term.refuted = self._number
        return False

    def sift(self, candidates: Iterable[int], found: array[int]) -> None:
        """Add the numbers of those filters all terms of which it satisfies."""
        now, filters = self._number, self._filters
        for number in candidates:
            for term in cast("tuple[Term, ...]", filters[number]):
                if term.met != now and not self.has(term):
                    break
            else:
                found.append(number)
