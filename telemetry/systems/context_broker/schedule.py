"""The number of requests and updates that a run should send, from the plan of its generators. Pure.

Counterpart: ``overlay.systems.context_broker.clients.scheduled`` sends the k-th at start + k × interval, so the samples
of a completed run can be compared with the number due.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from overlay.core.errors import WaxwingError
from overlay.core.node import SECOND
from overlay.core.settings import build
from overlay.load.windows import Schedule
from overlay.systems.context_broker.workload import ClientPlan, Workload, plan_clients


def due_in_measuring(manifest: Mapping[str, Any]) -> dict[str, int] | None:
    """The numbers due in measuring, by role; ``None`` for a manifest without such a workload."""
    try:
        workload = build(Workload, manifest["workload"])
        topology = manifest["topology"]
        plans = plan_clients(workload, int(topology["brokers"]), int(manifest["seed"]), topology.get("positions"))
    except (KeyError, TypeError, ValueError, WaxwingError):
        return None
    due: Counter[str] = Counter(consumer=0, provider=0)
    for plan in plans:
        due[plan.role] += _due(plan, workload)
    return dict(due)


def _due(plan: ClientPlan, workload: Workload) -> int:
    interval_s = workload.update_interval_s if plan.role == "provider" else workload.request_interval_s
    interval, start = round(interval_s * SECOND), plan.start_us * 1000
    begin, end = Schedule(workload.ramp_s(), workload.duration_s).measured_between(0)
    return _before(end, start, interval) - _before(begin, start, interval)


def _before(instant: int, start: int, interval: int) -> int:
    """How many of start, start + interval, … are before ``instant``."""
    return max(0, -((start - instant) // interval))
