"""The times of a run."""

from __future__ import annotations

from overlay.load.windows import Schedule
from overlay.systems.silbops.workload import Workload

SETTLING_S = 2.0
"""Between the last start and measuring, at least."""
SUBSCRIPTION_S = 0.0005
"""Work of one subscription at a broker, with the messages about it, at most."""
DRAIN_S = 30.0
"""Until all is settled, at most."""


def schedule(workload: Workload, delay_s: float) -> Schedule:
    """``delay_s``: of the longest way between two brokers."""
    starts_s = workload.stagger_ms * (workload.publishers + workload.subscribers) / 1_000
    settling_s = SETTLING_S + 2 * delay_s + SUBSCRIPTION_S * subscriptions(workload)
    return Schedule(starts_s + settling_s, workload.duration_s, DRAIN_S)


def subscriptions(workload: Workload) -> float:
    """Of all subscribers; the mean, where they are drawn."""
    return workload.subscriptions or workload.subscribers * (workload.filters_min + workload.filters_max) / 2
