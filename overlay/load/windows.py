"""The times of a run: the start of its load, the measuring phase and its total duration. Pure.

::

    start             start + ramp_s            start + ramp_s + duration_s
      |--- warming ---->|------- measuring ------->|-- draining ->
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from overlay.core.node import SECOND

OVERHEAD_S = 8.0
"""The overhead of a run: starting and joining brokers, draining, collecting. Measured and rounded."""


class Timed(Protocol):
    """A workload with times."""

    @property
    def duration_s(self) -> float:
        """Duration of measuring."""
        ...

    def ramp_s(self) -> float:
        """Seconds from the start of the workload until its last client has started."""
        ...


@dataclass(frozen=True, slots=True)
class Windows:
    """The times of a run, monotonic nanoseconds."""

    zero: int
    """The deployment's zero, the origin of samples."""
    start: int
    measuring: int
    end: int
    """The end of intended messages."""

    @classmethod
    def of(cls, workload: Timed, zero: int, start: int) -> Windows:
        return cls(zero, start, *measured_between(workload, start))


def measured_between(workload: Timed, start: int) -> tuple[int, int]:
    """The start and end of measuring, given the start of the workload. Nanoseconds of any clock."""
    begin = start + round(workload.ramp_s() * SECOND)
    return begin, begin + round(workload.duration_s * SECOND)


def estimate_s(workload: Timed) -> float:
    """Duration of a run of this workload in seconds, from its launch to its collected result."""
    return workload.ramp_s() + workload.duration_s + OVERHEAD_S
