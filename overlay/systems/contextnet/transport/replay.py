"""Which packet numbers were received: the largest, and which of the 64 up to it."""

from __future__ import annotations

from typing import Final

WINDOW: Final = 64


class Replay:
    __slots__ = ("_seen", "largest")

    def __init__(self) -> None:
        self.largest = -1
        self._seen = 0
        """Bit i: number ``largest`` - i."""

    def is_new(self, number: int) -> bool:
        age = self.largest - number
        return age < 0 or (age < WINDOW and not self._seen >> age & 1)

    def note(self, number: int) -> bool:
        """It is new. Returns whether it is the largest."""
        age = self.largest - number
        if age >= 0:
            self._seen |= 1 << age
            return False
        self._seen = (self._seen << min(-age, WINDOW) | 1) & (1 << WINDOW) - 1
        self.largest = number
        return True
