"""The names of a view's entries in order, for lists in pages. Pure.

Only lists need the order, so what is new is sorted in when a list asks.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Container, Sequence

from overlay.systems.context_broker.clients.feed_reader import Name

FEW = 64
"""New names that are inserted one by one; more are merged."""


class NameIndex:
    """``present`` are the names that exist; those that do not are left out, and forgotten once they are many."""

    def __init__(self, present: Container[Name]) -> None:
        self._present = present
        self._sorted: list[Name] = []
        self._new: dict[Name, None] = {}
        self._gone = 0

    def add(self, name: Name) -> None:
        self._new[name] = None

    def remove(self, name: Name) -> None:
        self._gone += 1

    def page(self, after: Name, most: int) -> tuple[Sequence[Name], Name | None]:
        """The present ones of the next ``most`` names behind ``after``, and where to continue; ``None`` at the end."""
        self._tidy()
        begin = bisect_right(self._sorted, after)
        found = self._sorted[begin : begin + most]
        following = found[-1] if begin + most < len(self._sorted) else None
        return [name for name in found if name in self._present], following

    def _tidy(self) -> None:
        if len(self._new) > FEW:
            self._sorted = list(dict.fromkeys(sorted([*self._sorted, *self._new])))
        else:
            for name in self._new:
                place = bisect_right(self._sorted, name)
                if not place or self._sorted[place - 1] != name:
                    insort(self._sorted, name)
        self._new.clear()
        if self._gone > len(self._sorted) // 2:
            self._sorted = [name for name in self._sorted if name in self._present]
            self._gone = 0

    def check_invariants(self, names: set[Name]) -> None:
        """Raise ``AssertionError`` unless it has all names, once and in order."""
        assert names <= {*self._sorted, *self._new}
        assert sorted(set(self._sorted)) == self._sorted
