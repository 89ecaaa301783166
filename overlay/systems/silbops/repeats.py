"""Notifications that came before, by the key of their publisher and their number (seed 002, section 7).

Handovers and publications that are sent again after a lost session bring copies. Brokers and clients drop them.
"""

from __future__ import annotations

from collections.abc import Hashable

MOST_NUMBERS = 1_024
"""Of each publisher."""
MOST_PUBLISHERS = 65_536


class Repeats:
    """The last 1,024 numbers of each publisher; beyond 65,536 publishers, those go that were silent longest."""

    __slots__ = ("_by_publisher",)

    def __init__(self) -> None:
        self._by_publisher: dict[Hashable, dict[int, None]] = {}

    def is_new(self, publisher: Hashable, number: int) -> bool:
        """Whether it has not come before. From now on it has."""
        numbers = self._by_publisher.pop(publisher, None)
        if numbers is None:
            numbers = {}
        self._by_publisher[publisher] = numbers  # the last one
        if number in numbers:
            return False
        numbers[number] = None
        if len(numbers) > MOST_NUMBERS:
            del numbers[next(iter(numbers))]
        if len(self._by_publisher) > MOST_PUBLISHERS:
            del self._by_publisher[next(iter(self._by_publisher))]
        return True

    def check_invariants(self) -> None:
        """Raises ``AssertionError``."""
        assert len(self._by_publisher) <= MOST_PUBLISHERS
        assert all(0 < len(numbers) <= MOST_NUMBERS for numbers in self._by_publisher.values())
