"""The instants of a run: when its load starts, what of it is measured, and how long it takes in all. Pure.

::

    start             start + ramp_s            start + ramp_s + duration_s
      |--- warming ---->|------- measuring ------->|-- draining ->
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from overlay.core.node import SECOND

OVERHEAD_S = 8.0
"""What a run takes beside ramp and duration: starting and joining brokers, draining, collecting. Measured, rounded."""


class Timed(Protocol):
    """A workload, as far as time goes."""

    @property
    def duration_s(self) -> float:
        """How long is measured."""
        ...

    def ramp_s(self) -> float:
        """Seconds from the start of the workload until its last client has started."""
        ...


@dataclass(frozen=True, slots=True)
class Windows:
    """The instants of a run, monotonic nanoseconds."""

    zero: int
    """The deployment's zero, from which samples count."""
    start: int
    measuring: int
    end: int
    """Nothing is intended from here on."""

    @classmethod
    def of(cls, workload: Timed, zero: int, start: int) -> Windows:
        return cls(zero, start, *measured_between(workload, start))


def measured_between(workload: Timed, start: int) -> tuple[int, int]:
    """When measuring begins and ends, given when the workload starts. Nanoseconds, of whatever clock."""
    begin = start + round(workload.ramp_s() * SECOND)
    return begin, begin + round(workload.duration_s * SECOND)


def estimate_s(workload: Timed) -> float:
    """Seconds that a run of this workload takes, from its launch until its result is collected."""
    return workload.ramp_s() + workload.duration_s + OVERHEAD_S
