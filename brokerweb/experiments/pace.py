"""How long runs take before they were run: live ones by the clock, simulated ones by what was simulated here before.

Counterpart: ``telemetry.sweep.costs`` says what a configuration takes where nothing is known of this machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brokerweb.experiments.models import Run, RunState
from overlay.core.engines import LIVE, SIMULATED
from overlay.load.windows import estimate_s
from overlay.systems.registry import SYSTEMS
from telemetry.lake.manifest import usable_cores
from telemetry.sweep import costs

LATELY = 20
"""Simulated runs that the pace is taken from: enough for a median, and of settings like those that come next."""
START_S = 4.0
"""Until the first of several simulated runs begins: a worker is asked, and processes start."""
MEASURED = "Estimated from runs simulated on this host"
ROUGH = "Rough estimate (no simulation has run on this host yet)"


@dataclass(frozen=True, slots=True)
class Pace:
    """How quick runs of one engine are."""

    engine: str
    slowness: float = 1.0
    """How much longer simulated runs took here than ``telemetry.sweep.costs`` has it."""
    basis: str = ""
    """Where a figure of a simulated run comes from, in words."""

    def run_s(self, configuration: Mapping[str, Any]) -> float:
        """Seconds that a run takes from launch to result; of a simulated one, of one core."""
        if self.engine == LIVE:
            return estimate_s(
                SYSTEMS[configuration["system"]].read_workload(configuration["workload"])
            ) + costs.collect_s(configuration)
        return costs.seconds(configuration) * self.slowness

    def all_s(self, runs_s: Sequence[float]) -> float:
        """Seconds that runs of so many seconds each take: live ones after each other, simulated ones side by side."""
        if self.engine == LIVE or not runs_s:
            return sum(runs_s)
        return START_S + max(sum(runs_s) / usable_cores(), *runs_s)


def pace_of(engine: str) -> Pace:
    """As of now."""
    if engine == LIVE:
        return Pace(LIVE)
    done = Run.objects.filter(engine=SIMULATED, state=RunState.DONE, observed__simulation__took_s__gt=0)
    known = done.order_by("-ended_at").values_list("configuration", "observed__simulation__took_s")[:LATELY]
    found = costs.slowness((costs.seconds(configuration), took_s) for configuration, took_s in known)
    return Pace(SIMULATED, found or 1.0, MEASURED if found else ROUGH)
