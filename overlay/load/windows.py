"""The times of a run: the start of its load, the measuring phase and its total duration. Pure.

::

    start             start + ramp_s            start + ramp_s + duration_s
      |--- warming ---->|------- measuring ------->|-- draining ->
"""

from __future__ import annotations

from dataclasses import dataclass

from overlay.core.node import SECOND

OVERHEAD_S = 8.0
"""The overhead of a run: starting and joining servers, ending the last exchanges, collecting. Measured and rounded."""
DRAIN_S = 10.0
"""The deadline of an exchange, unless its system has another."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """The times of a run, in seconds."""

    ramp_s: float
    """From the start of the workload until its last client has started."""
    duration_s: float
    """Duration of measuring."""
    drain_s: float = DRAIN_S
    """Maximum time to wait for the end of exchanges and deliveries after measuring."""

    def measured_between(self, start: int) -> tuple[int, int]:
        """The start and end of measuring, given the start of the workload. Nanoseconds of any clock."""
        begin = start + round(self.ramp_s * SECOND)
        return begin, begin + round(self.duration_s * SECOND)


@dataclass(frozen=True, slots=True)
class Windows:
    """The times of a run, monotonic nanoseconds."""

    zero: int
    """The deployment's zero, the origin of samples."""
    start: int
    measuring: int
    end: int
    """The end of intended messages."""
    drained: int
    """When clients give up what is unfinished, at the latest."""

    @classmethod
    def of(cls, schedule: Schedule, zero: int, start: int) -> Windows:
        measuring, end = schedule.measured_between(start)
        return cls(zero, start, measuring, end, end + round(schedule.drain_s * SECOND))
