"""The settings of Algorithm 1, and the deadline of a queue that follows from them."""

from __future__ import annotations

from dataclasses import dataclass

from overlay.systems.radiator.aggregation.queues import SECOND, Queue


@dataclass(frozen=True, slots=True)
class Options:
    """Settings of the algorithm."""

    echo: bool = False
    """Whether a message also goes to its sender."""
    has_deadlines: bool = True
    """``flush = deadline``: a queue with a threshold of time leaves when its time is over, without an arrival."""
    retain_max: int = 0
    """ns after which every queue leaves; 0: never."""
    audience: int = 0
    """Recipients of each message; 0: all."""
    is_per_recipient: bool = False
    """Whether recipients of the same messages get propagations of their own (``Aggregation.is_per_recipient``)."""

    @property
    def has_timers(self) -> bool:
        return self.has_deadlines or self.retain_max > 0

    def deadline(self, queue: Queue) -> int | None:
        """When ``queue`` leaves without an arrival, in ns; ``None``: never."""
        kind, value = queue.threshold
        oldest = queue.messages[0].received
        by_time = oldest + value * SECOND if self.has_deadlines and kind == "time" else None
        if not self.retain_max:
            return by_time
        return oldest + self.retain_max if by_time is None else min(by_time, oldest + self.retain_max)
