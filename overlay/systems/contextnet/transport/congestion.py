"""How many DATA may be under way: slow start, then additive increase and multiplicative decrease (RFC 5681).

The unit is one DATA. The window of the contract is its upper bound.
"""

from __future__ import annotations

from typing import Final

FIRST: Final = 10


class Congestion:
    __slots__ = ("_credit", "_most", "_threshold", "window")

    def __init__(self, most: int) -> None:
        self._most = most
        self.reset()

    def reset(self) -> None:
        self.window = min(FIRST, self._most)
        self._threshold = self._most
        self._credit = 0
        """DATA acknowledged since ``window`` last rose."""

    def arrived(self, count: int) -> None:
        """So many DATA were newly shown to have arrived."""
        if self.window < self._threshold:
            self.window = min(self.window + count, self._threshold)
            return
        self._credit += count
        if self._credit >= self.window and self.window < self._most:
            self._credit -= self.window
            self.window += 1
        self._credit = min(self._credit, self._most)

    def lost(self) -> None:
        """One was lost; at most once for what was under way together."""
        self.window = self._threshold = max(self.window // 2, 1)

    def timed_out(self) -> None:
        self._threshold = min(max(self.window // 2, 2), self._most)
        self.window = 1
        self._credit = 0
