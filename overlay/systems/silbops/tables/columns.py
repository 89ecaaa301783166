"""Numbers of contexts as columns, so that one function is tested for many subscribers at once."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence

from overlay.systems.silbops.content.values import Values
from overlay.systems.silbops.scope.intervals import LARGEST, Interval, Placed
from overlay.systems.silbops.tables.rows import Known, Row

MAX_COLUMNS = 16
"""Functions that read further variables are tested one by one."""
_NAN = float("nan")


class Columns:
    """A slot for each client, a column for each variable that some function in interval form reads.

    ``array`` grows and is written faster than a NumPy array, which sees it without a copy while it is read.
    """

    def __init__(self) -> None:
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
            kind = type(value)
            if (kind is float or kind is int) and -LARGEST <= value <= LARGEST:  # type: ignore[operator]
                column[slot] = value  # type: ignore[assignment]
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

    def sift(self, rows: Sequence[Row], intervals: Sequence[Placed]) -> tuple[list[Row], list[Row]] | None:
        """Rows of one function: those inside all intervals, and those that only ``inside`` can tell of.

        None if a variable has no column.
        """
        columns = [self._columns.get(one.subscriber) for one in intervals]
        if None in columns:
            return None
        odd: list[Row] = []
        if self._odd:
            odd = [row for row in rows if row.slot in self._odd]
            rows = [row for row in rows if row.slot not in self._odd]
        import numpy as np  # here: it would add 20 MB to each broker whose functions never need it

        slots = np.array([row.slot for row in rows], np.intp)
        left = np.arange(len(rows))
        for column, (_, low, high, at) in zip(columns, intervals, strict=True):
            centre = np.frombuffer(column)[slots]  # type: ignore[arg-type]  # None is not among them
            left_here = np.flatnonzero((centre + low <= at) & (at <= centre + high))
            left, slots = left[left_here], slots[left_here]
        return [rows[number] for number in left.tolist()], odd
