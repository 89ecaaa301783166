"""Waiting for runs, reports and networks. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from waxwing.records import Run

T = TypeVar("T")
Watcher = Callable[[T], object]
"""Is told what was seen, after each look."""
FIRST_S, LONGEST_S = 0.1, 2.0


def pause_s(looks: int) -> float:
    """The wait before another look: short at first, since much is over soon."""
    return min(LONGEST_S, FIRST_S * 1.5 ** min(looks, 20))


def progress_of(runs: Sequence[Run]) -> float:
    """Of all together, 0 to 1."""
    return sum(1.0 if run.is_over else run.progress for run in runs) / len(runs) if runs else 1.0


def left_s(runs: Sequence[Run]) -> float | None:
    """The estimated time until the last one is over; ``None`` if unknown."""
    known = [run.eta_s for run in runs if not run.is_over and run.eta_s is not None]
    return max(known, default=None)
