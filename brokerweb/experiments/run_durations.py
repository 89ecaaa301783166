"""Expected duration of runs: live runs take real time, simulated ones are estimated from earlier simulations on this
host.

Counterpart: ``telemetry.sweep.costs`` estimates a configuration without data of this machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brokerweb.experiments.models import Run, RunState
from overlay.core.engines import LIVE, SIMULATED
from overlay.experiment.definition import estimate_s
from telemetry.lake.manifest import usable_cores
from telemetry.sweep import costs

LATELY = 20
"""Number of recent simulated runs used: enough for a median, and likely to have similar settings."""
START_S = 4.0
"""Time until the first of several simulated runs starts: queueing and process start."""
MEASURED = "Estimated from runs simulated on this host"
ROUGH = "Rough estimate (no simulation has run on this host yet)"


@dataclass(frozen=True, slots=True)
class Pace:
    """The pace of runs of one engine."""

    engine: str
    slowness: float = 1.0
    """Ratio of measured to estimated (``telemetry.sweep.costs``) durations of simulated runs on this host."""
    basis: str = ""
    """Basis of the estimate, as text."""

    def run_s(self, configuration: Mapping[str, Any]) -> float:
        """Seconds of a run from launch to result; for simulated runs, on one core."""
        if self.engine == LIVE:
            return estimate_s(configuration) + costs.collect_s(configuration)
        return costs.seconds(configuration) * self.slowness

    def all_s(self, runs_s: Sequence[float]) -> float:
        """Total seconds of runs with these durations: live runs one at a time, simulated ones in parallel."""
        if self.engine == LIVE or not runs_s:
            return sum(runs_s)
        return START_S + max(sum(runs_s) / usable_cores(), *runs_s)


def pace_of(engine: str) -> Pace:
    """The current pace."""
    if engine == LIVE:
        return Pace(LIVE)
    done = Run.objects.filter(engine=SIMULATED, state=RunState.DONE, observed__simulation__took_s__gt=0)
    known = done.order_by("-ended_at").values_list("configuration", "observed__simulation__took_s")[:LATELY]
    found = costs.slowness((costs.seconds(configuration), took_s) for configuration, took_s in known)
    return Pace(SIMULATED, found or 1.0, MEASURED if found else ROUGH)
