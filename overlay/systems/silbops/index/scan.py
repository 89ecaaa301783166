"""Every filter is tested. The others are compared with it."""

from __future__ import annotations

from array import array

from overlay.systems.silbops.content.filters import Filter, matches
from overlay.systems.silbops.content.values import Values
from overlay.systems.silbops.index.contract import INTEGERS


class Scan:
    def __init__(self) -> None:
        self._filters: dict[int, Filter] = {}

    def __len__(self) -> int:
        return len(self._filters)

    def add(self, number: int, one: Filter) -> Filter:
        self._filters[number] = one
        return one

    def remove(self, number: int) -> None:
        del self._filters[number]

    def match(self, values: Values) -> array[int]:
        return array(INTEGERS, [number for number, one in self._filters.items() if matches(one, values)])
