"""What every index can do. Filters have numbers, those of rows: small and used again, so an array has many of them."""

from __future__ import annotations

from array import array
from typing import Protocol

from overlay.systems.silbops.content.filters import Filter
from overlay.systems.silbops.content.values import Values

INTEGERS = "i"
"""The type of arrays of numbers: C's int, ``numpy.intc``."""


class Index(Protocol):
    def add(self, number: int, one: Filter) -> Filter:
        """``number`` is new here. Returns the filter with constraints that equal filters share."""
        ...

    def remove(self, number: int) -> None:
        """``number`` is here."""
        ...

    def match(self, values: Values) -> array[int]:
        """Numbers of the filters that match, each once, in no particular order."""
        ...

    def __len__(self) -> int: ...
