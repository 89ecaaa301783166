"""What happens next. Ties are broken by priority, then by the order in which things were scheduled, never by chance."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappush
from itertools import count
from typing import Any

FAULT, ARRIVAL, STEP = range(3)
"""Priorities within one instant: the world changes, what is due arrives, and then each node deals with all of it."""

Action = Callable[..., None]


class Schedule:
    """Actions by time (ns); ``now`` never goes back."""

    def __init__(self) -> None:
        self.now = 0
        self.heap: list[tuple[int, int, int, Action, tuple[Any, ...]]] = []
        """What happens next first; whoever takes it off sets ``now``."""
        self.order = count()
        """What was scheduled first goes first."""

    def __len__(self) -> int:
        return len(self.heap)

    def at(self, time: int, priority: int, action: Action, *arguments: Any) -> None:
        """Run ``action(*arguments)`` at ``time``, which must not be past."""
        if time < self.now:
            raise ValueError(f"scheduled for {time} ns when it is {self.now} ns already")
        heappush(self.heap, (time, priority, next(self.order), action, arguments))

    def pass_to(self, time: int) -> None:
        """Let time pass in which nothing happens."""
        self.now = max(self.now, time)
