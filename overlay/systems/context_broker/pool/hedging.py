"""When a second broker is asked while the first is silent (Dean and Barroso, The Tail at Scale, 2013)."""

from __future__ import annotations

from collections import deque

from overlay.core.node import MILLISECOND

ASKS_PER_HEDGE = 20
"""At least: brokers that are slow because they are busy get at most 5 % more to do."""
MOST_SAVED = 10
"""Hedges that a quiet time may save up for a bad moment."""
SAMPLE = 256
"""The last asks, whose 95th percentile is the wait."""
FEWEST = 20
AGAIN = 16
"""The percentile is taken again after this many asks."""
LEAST_NS = 2 * MILLISECOND
"""Below it the delay is that of the asking process, which a second ask would not shorten."""


class Hedging:
    """The wait before a hedge, and the budget of hedges."""

    def __init__(self) -> None:
        self._took: deque[int] = deque(maxlen=SAMPLE)
        self._since = 0
        self._saved = 0
        self.wait_ns: int | None = None
        """From an ask to its hedge: the 95th percentile; ``None`` until enough asks were answered."""

    def asked(self) -> None:
        """One more ask, which earns its share of a hedge."""
        self._saved = min(self._saved + 1, MOST_SAVED * ASKS_PER_HEDGE)

    def note(self, took: int) -> None:
        """An ask was answered after ``took`` ns."""
        self._took.append(took)
        self._since += 1
        if self._since >= AGAIN and len(self._took) >= FEWEST:
            self._since = 0
            self.wait_ns = max(sorted(self._took)[int(0.95 * len(self._took))], LEAST_NS)

    def take(self) -> bool:
        """Whether a hedge is within the budget, which it is then charged to."""
        if self._saved < ASKS_PER_HEDGE:
            return False
        self._saved -= ASKS_PER_HEDGE
        return True

    def check_invariants(self) -> None:
        assert 0 <= self._saved <= MOST_SAVED * ASKS_PER_HEDGE
        assert len(self._took) <= SAMPLE
        assert self.wait_ns is None or self.wait_ns >= LEAST_NS
