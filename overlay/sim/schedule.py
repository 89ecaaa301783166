"""The event queue. Ties are broken by priority, then by the order of scheduling, never at random."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappush
from itertools import count
from typing import Any

FAULT, ARRIVAL, STEP = range(3)
"""Priorities within an instant: first the world changes, then datagrams arrive, then each node processes them."""

Action = Callable[..., None]


class Schedule:
    """Actions by time (ns); ``now`` never decreases."""

    def __init__(self) -> None:
        self.now = 0
        self.heap: list[tuple[int, int, int, Action, tuple[Any, ...]]] = []
        """A heap with the next action first. The code that pops an action sets ``now``."""
        self.order = count()
        """The counter that orders actions of the same time and priority."""

    def __len__(self) -> int:
        return len(self.heap)

    def at(self, time: int, priority: int, action: Action, *arguments: Any) -> None:
        """Run ``action(*arguments)`` at ``time``, which must not be in the past."""
        if time < self.now:
            raise ValueError(f"cannot schedule for {time} ns: it is already {self.now} ns")
        heappush(self.heap, (time, priority, next(self.order), action, arguments))

    def pass_to(self, time: int) -> None:
        """Advance the time without any action."""
        self.now = max(self.now, time)
