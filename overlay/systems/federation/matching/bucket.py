"""The subscriptions in one place of the index, by what is left to test.

Nothing, a comparison of a parameter with a number, or anything else. Comparisons of one parameter are sorted by their
number, so that those that a notification satisfies are found by bisection and stand next to each other. With many
subscriptions, most of the time of matching goes into memory that is not in the processor's cache; the others are not
even touched.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Generic, TypeVar

from overlay.systems.federation.language.compiler import Test, compiled
from overlay.systems.federation.language.tree import RESERVED, And, Expression, Predicate
from overlay.systems.federation.wire.values import Notification, SubscriptionId

Row = TypeVar("Row")
Number = int | float
_FEW: Final = 16
"""So many rows are listed faster one by one."""
_ORDERS = ("<", "<=", ">", ">=")


def number_of(parts: Sequence[Expression]) -> Predicate | None:
    """The only one of ``parts``, if it compares a parameter with a number; else None."""
    match parts:
        case [Predicate(name=name, operator=operator, constants=(constant,)) as one]:
            is_ordered = operator in _ORDERS and type(constant) in (int, float)
            return one if is_ordered and "." not in name and name not in RESERVED else None
    return None


class Bucket(Generic[Row]):
    """Rows are added under their id with the parts of their expression that are left to test."""

    __slots__ = ("_ordered", "_others", "_untested")

    def __init__(self) -> None:
        self._untested: dict[SubscriptionId, Row] = {}
        self._ordered: dict[tuple[str, str], _Ordered[Row]] = {}
        """By parameter and operator."""
        self._others: dict[SubscriptionId, tuple[Test, Row]] = {}

    def __bool__(self) -> bool:
        return bool(self._untested or self._ordered or self._others)

    def __iter__(self) -> Iterator[Row]:
        yield from self._untested.values()
        for ordered in self._ordered.values():
            yield from ordered.rows
        for _, row in self._others.values():
            yield row

    def add(self, sid: SubscriptionId, parts: Sequence[Expression], row: Row) -> None:
        if not parts:
            self._untested[sid] = row
        elif (one := number_of(parts)) is not None:
            ordered = self._ordered.get((one.name, one.operator))
            if ordered is None:
                ordered = self._ordered[one.name, one.operator] = _Ordered(one.operator)
            ordered.add(one.constants[0], row)
        else:
            self._others[sid] = (compiled(And(tuple(parts))), row)

    def remove(self, sid: SubscriptionId, parts: Sequence[Expression], row: Row) -> None:
        """With the same arguments as it was added."""
        if not parts:
            del self._untested[sid]
        elif (one := number_of(parts)) is not None:
            ordered = self._ordered[one.name, one.operator]
            ordered.remove(one.constants[0], row)
            if not ordered.rows:
                del self._ordered[one.name, one.operator]
        else:
            del self._others[sid]

    def match(self, notification: Notification, found: list[Row]) -> None:
        """Add the rows that it satisfies to ``found``."""
        if len(self._untested) > _FEW:
            found.extend(self._untested.values())
        else:  # compiled, without a call
            for row in self._untested.values():
                found.append(row)
        if self._ordered:
            data = notification.data
            for (name, _), ordered in self._ordered.items():
                found.extend(ordered.match(data.get(name)))
        for test, row in self._others.values():
            if test(notification):
                found.append(row)


class _Ordered(Generic[Row]):
    """Rows by the number with which they compare one parameter, smallest first."""

    __slots__ = ("_bisect", "_choose", "_is_above", "_numbers", "rows")

    def __init__(self, operator: str) -> None:
        self._numbers: list[Any] = []
        self.rows: list[Row] = []
        self._is_above = operator in (">", ">=")
        """Whether a value satisfies those with the smaller numbers."""
        self._bisect = bisect_left if operator in (">", "<=") else bisect_right
        self._choose: Callable[[list[Number]], Number] = max if self._is_above else min

    def add(self, number: Any, row: Row) -> None:
        place = bisect_right(self._numbers, number)
        self._numbers.insert(place, number)
        self.rows.insert(place, row)

    def remove(self, number: Any, row: Row) -> None:
        place = self.rows.index(row, bisect_left(self._numbers, number))
        del self._numbers[place]
        del self.rows[place]

    def match(self, value: Any) -> Sequence[Row]:
        kind = type(value)
        if kind is list:
            # One element is enough, so the best one decides.
            numbers = _numbers(value)
            if not numbers:
                return ()
            value = self._choose(numbers)
        elif kind is not float and kind is not int:
            return ()
        place = self._bisect(self._numbers, value)
        return self.rows[:place] if self._is_above else self.rows[place:]


def _numbers(values: list[Any]) -> list[Number]:
    """All in an array, and in arrays in it."""
    flat: list[Number] = []
    for value in values:
        if type(value) is list:
            flat += _numbers(value)
        elif type(value) is int or type(value) is float:
            flat.append(value)
    return flat
