"""Every filter is tested. The others are compared with it."""

from __future__ import annotations

from typing import Generic

from overlay.systems.silbops.content.filters import Filter, matches
from overlay.systems.silbops.content.values import Values
from overlay.systems.silbops.index.contract import Key


class Scan(Generic[Key]):
    def __init__(self) -> None:
        self._filters: dict[Key, Filter] = {}

    def __len__(self) -> int:
        return len(self._filters)

    def add(self, key: Key, one: Filter) -> Filter:
        self._filters[key] = one
        return one

    def remove(self, key: Key) -> None:
        del self._filters[key]

    def match(self, values: Values) -> list[Key]:
        return [key for key, one in self._filters.items() if matches(one, values)]
