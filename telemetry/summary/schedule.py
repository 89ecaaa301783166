"""How long a run measured, and how many requests and updates it was to send: the plan of its generators again. Pure.

Counterpart: ``overlay.systems.context_broker.clients.scheduled`` sends the k-th at start + k × interval, so that what a
finished run measured can be held against what was due.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from overlay.core.errors import WaxwingError
from overlay.core.node import SECOND
from overlay.core.settings import build
from overlay.deployment.phases import DRAINING, FAILED, MEASURING, STOPPED, STOPPING
from overlay.journal.facts import Event
from overlay.load.windows import measured_between
from overlay.systems.context_broker.workload import ClientPlan, Workload, plan_clients

AFTER_MEASURING = (DRAINING, STOPPING, STOPPED, FAILED)
"""Phases that end measuring."""


def measured_us(manifest: Mapping[str, Any], events: Iterable[Event] = ()) -> int | None:
    """How long the run measured: as long as its workload says, or until it was stopped; ``None`` where nobody knows.

    What a rate per second of measuring is divided by. The waits for the last answers come after it. Of a run that was
    collected its manifest says it.
    """
    if (collected := (manifest.get("summary") or {}).get("measured_us")) is not None:
        return int(collected)
    planned_s = (manifest.get("workload") or {}).get("duration_s")
    planned_us = None if planned_s is None else round(planned_s * 1e6)
    told = sorted((event for event in events if event.name == "phase"), key=lambda event: event.at_us)
    began_us = next((event.at_us for event in told if event.detail.get("phase") == MEASURING), None)
    end = next((event for event in told if event.detail.get("phase") in AFTER_MEASURING), None)
    if began_us is None or end is None or (end.detail["phase"] == DRAINING and planned_us is not None):
        return planned_us
    until_us = max(0, end.at_us - began_us)
    return until_us if planned_us is None else min(planned_us, until_us)


def due_in_measuring(manifest: Mapping[str, Any]) -> dict[str, int] | None:
    """By role, what was due while measuring; ``None`` for a manifest that describes no workload of ours."""
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
    begin, end = measured_between(workload, 0)
    return _before(end, start, interval) - _before(begin, start, interval)


def _before(instant: int, start: int, interval: int) -> int:
    """How many of start, start + interval, … lie before ``instant``."""
    return max(0, -((start - instant) // interval))
