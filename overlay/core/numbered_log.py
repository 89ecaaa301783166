"""The last items of a sequence, by number, so that a listener resumes behind the last one that it has. Pure.

Bounded in number and bytes. A listener that missed an item that is no longer here is told so.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Generic, TypeVar

MOST_ITEMS = 20_000
MOST_BYTES = 32_000_000
T = TypeVar("T")


class NumberedLog(Generic[T]):
    """``epoch`` distinguishes this log from earlier ones of other processes: its beginning, Unix milliseconds."""

    def __init__(self, epoch: int, most_items: int = MOST_ITEMS, most_bytes: int = MOST_BYTES) -> None:
        self.epoch = epoch
        self.last = 0
        """The number of the latest item; the first has 1."""
        self._most_items = most_items
        self._most_bytes = most_bytes
        self._items: deque[tuple[T, int]] = deque()
        self._bytes = 0

    def append(self, item: T, size_bytes: int) -> None:
        """Under the next number."""
        self.last += 1
        self._items.append((item, size_bytes))
        self._bytes += size_bytes
        while len(self._items) > self._most_items or (self._bytes > self._most_bytes and len(self._items) > 1):
            self._bytes -= self._items.popleft()[1]

    def id_of(self, number: int) -> str:
        """The id that a listener shows to resume behind this item."""
        return f"{self.epoch}-{number}"

    def number_of(self, id: str) -> int | None:
        """The number of ``id_of``; ``None`` for what this log has not given out."""
        epoch, _, number = id.partition("-")
        if epoch != str(self.epoch) or not (number.isascii() and number.isdigit() and len(number) < 20):
            return None
        return int(number) if int(number) <= self.last else None

    def after(self, number: int, most: int = 1_000) -> Sequence[T] | None:
        """The next items behind this number, at most so many; ``None`` if one of them is no longer here."""
        missed = self.last - number
        if missed < 0 or missed > len(self._items):
            return None
        return [self._items[position - missed][0] for position in range(min(missed, most))]

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if its bounds do not hold."""
        assert len(self._items) <= self._most_items
        assert self._bytes == sum(size for _, size in self._items)
        assert self._bytes <= self._most_bytes or len(self._items) == 1
