"""How many seeds are done, and the time that is left."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

EVERY_S = 10.0


class Progress:
    """Of ``total`` pieces of work. ``clock`` is in seconds."""

    def __init__(self, total: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._total, self._clock = total, clock
        self._begin = self._said = clock()
        self.done = self.failed = 0

    @property
    def seconds(self) -> float:
        return self._clock() - self._begin

    def count(self, *, is_failed: bool) -> None:
        self.done += 1
        self.failed += is_failed
        if self._clock() - self._said >= EVERY_S:
            self._said = self._clock()
            print(self.line(), file=sys.stderr, flush=True)

    def line(self) -> str:
        left = self.seconds / max(1, self.done) * (self._total - self.done)
        return f"{self.done:,} of {self._total:,} seeds, {self.failed} failed, {left:,.0f} s left"
