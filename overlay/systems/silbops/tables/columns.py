"""Numbers of contexts as columns, so that one function is tested for many subscribers at once."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from typing import Any

from overlay.systems.silbops.content.values import Values
from overlay.systems.silbops.scope.compiling import Function
from overlay.systems.silbops.scope.intervals import LARGEST, Interval, Placed
from overlay.systems.silbops.tables.rows import Known, Row

MAX_COLUMNS = 16
"""Functions that read further variables are tested one by one."""
_NAN = float("nan")


class Columns:
    """A slot for each client, a column for each variable that some function in interval form reads; and by row, its
    client's slot and its function.

    ``array`` grows and is written faster than a NumPy array, which sees it without a copy while it is read.
    """

    def __init__(self) -> None:
        self._slots: array[int] = array("i")
        self._functions: array[int] = array("i")
        """By the number of a row: the client's slot, and the number of the function; 0 without one."""
        self._numbers: dict[Function, int] = {}
        self._by_number: list[Function | None] = [None]
        self._uses: list[int] = [0]
        """By the number of a function: its rows."""
        self._unused: list[int] = []
        self._columns: dict[str, array[float]] = {}
        self._size = 0
        self._free: list[int] = []
        self._odd: set[int] = set()
        """Slots with a value that the interval form does not take: text, true and false, huge numbers."""

    def take(self) -> int:
        """A slot without numbers."""
        if self._free:
            return self._free.pop()
        for column in self._columns.values():
            column.append(_NAN)
        self._size += 1
        return self._size - 1

    def release(self, slot: int) -> None:
        self.write(slot, {})
        self._free.append(slot)

    def write(self, slot: int, values: Values) -> None:
        """What a variable lacks is NaN, which is in no interval."""
        is_odd = False
        for name, column in self._columns.items():
            value = values.get(name)
            if (type(value) is float and -LARGEST <= value <= LARGEST) or type(value) is int:
                column[slot] = value
            else:
                column[slot] = _NAN
                is_odd = is_odd or value is not None
        if is_odd:
            self._odd.add(slot)
        elif self._odd:
            self._odd.discard(slot)

    def cover(self, intervals: Iterable[Interval], clients: Iterable[Known]) -> None:
        """Have columns of what they read, as far as there is room. ``clients``: all that have a slot."""
        for one in intervals:
            name = one.subscriber
            if name not in self._columns and len(self._columns) < MAX_COLUMNS:
                self._columns[name] = array("d", [_NAN]) * self._size
                for client in clients:
                    self.write(client.slot, client.values or {})

    def enter(self, row: Row) -> None:
        """It has a number since."""
        if row.number == len(self._slots):
            self._slots.append(0)
            self._functions.append(0)
        function, known = row.function, row.known
        self._slots[row.number] = 0 if known is None else known.slot
        number = self._functions[row.number] = 0 if function is None else self._number(function)
        self._uses[number] += 1

    def leave(self, row: Row) -> None:
        function, number = row.function, self._functions[row.number]
        self._uses[number] -= 1
        if function is not None and not self._uses[number]:
            del self._numbers[function]
            self._by_number[number] = None
            self._unused.append(number)

    def _number(self, function: Function) -> int:
        number = self._numbers.get(function)
        if number is None:
            number = self._unused.pop() if self._unused else len(self._uses)
            self._numbers[function] = number
            if number == len(self._uses):
                self._uses.append(0)
                self._by_number.append(function)
            else:
                self._by_number[number] = function
        return number

    def by_function(self, numbers: array[int]) -> list[tuple[Function | None, Any]]:
        """Numbers of rows, as arrays of NumPy; those without a function first."""
        np = _numpy()
        rows = np.frombuffer(numbers, np.intc)
        if len(self._numbers) == 1 and not self._uses[0]:  # all rows have the same: no need to look
            return [(next(iter(self._numbers)), rows)]
        functions = np.frombuffer(self._functions, np.intc)[rows]
        first = functions[0]
        if (functions == first).all():  # mostly, which is sooner seen than they are sorted
            return [(self._by_number[first], rows)]
        return [(self._by_number[one], rows[functions == one]) for one in np.unique(functions)]

    def sift(self, rows: Any, intervals: Sequence[Placed]) -> tuple[Any, Any] | None:
        """Numbers of rows of one function, as an array: those inside all intervals, and those that only ``inside`` can
        tell of.

        None if a variable has no column.
        """
        columns = [self._columns.get(one.subscriber) for one in intervals]
        if None in columns:
            return None
        np = _numpy()
        slots, odd = np.frombuffer(self._slots, np.intc)[rows], rows[:0]
        if self._odd:
            is_odd = np.isin(slots, list(self._odd))
            odd, rows, slots = rows[is_odd], rows[~is_odd], slots[~is_odd]
        for column, (_, low, high, at) in zip(columns, intervals, strict=True):
            centre = np.frombuffer(column)[slots]
            inside = np.flatnonzero((centre + low <= at) & (at <= centre + high))  # few
            rows, slots = rows[inside], slots[inside]
        return rows, odd


def _numpy() -> Any:
    """Not before it is needed: it would add 20 MB to each broker whose functions never need it."""
    import numpy

    return numpy
