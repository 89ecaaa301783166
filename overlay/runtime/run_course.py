"""Churn and faults of a run, applied to its processes at their times. Networks have neither."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from overlay.core.node import SECOND
from overlay.deployment.deployment import RUN, Deployment
from overlay.faults.churn import UP
from overlay.faults.faults import Course
from overlay.runtime.deployment_processes import DeploymentProcesses
from overlay.runtime.link_faults import SharedFaults

Tell = Callable[[str, dict[str, Any]], None]


class RunCourse:
    """``shared`` tells processes which faults are active; ``None`` without faults."""

    def __init__(self, deployment: Deployment, processes: DeploymentProcesses, tell: Tell) -> None:
        ramp_s = deployment.schedule.ramp_s if deployment.kind == RUN else 0.0
        self._course = Course(deployment.churn(), deployment.faults, ramp_s)
        self._processes, self._tell = processes, tell
        self.shared = SharedFaults(deployment.faults) if deployment.faults else None

    @property
    def away(self) -> set[int]:
        """Indices of servers that are away by churn."""
        return set(self._course.away)

    def follow(self, start: int | None, names: Sequence[str], now: int) -> int:
        """Apply what is due, ``start`` being that of the first client. Returns the time of the next."""
        if start is None:
            return now + SECOND
        due = self._course.due((now - start) / SECOND)
        for name, detail in due.events:
            self._tell(name, detail)
        for change in due.changes:
            if change.what != UP:
                self._processes.send_away(names[change.broker], change.what, now)
        if (due.links_changed or due.of_system) and self.shared is not None:
            self.shared.tell(self._course.active)
        next_s = self._course.next_s()
        return now + SECOND if next_s is None else start + round(next_s * SECOND)

    def close(self) -> None:
        if self.shared is not None:
            self.shared.close()
