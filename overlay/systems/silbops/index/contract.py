"""What every index can do."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Protocol, TypeVar

from overlay.systems.silbops.content.filters import Filter
from overlay.systems.silbops.content.values import Values

Key = TypeVar("Key", bound=Hashable)


class Index(Protocol[Key]):
    def add(self, key: Key, one: Filter) -> Filter:
        """``key`` is new here. Returns the filter with constraints that equal filters share."""
        ...

    def remove(self, key: Key) -> None:
        """``key`` is here."""
        ...

    def match(self, values: Values) -> list[Key]:
        """Keys of the filters that match, each once, in no particular order."""
        ...

    def __len__(self) -> int: ...
