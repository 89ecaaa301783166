"""The calibration of seed 000: which probes are run in each round, and the costs that follow from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from overlay.runtime.supervisor_client import SupervisorClient
from telemetry.calibration.plan import LAUNCH_S, Anchor, Fitted, Plan, Probe
from telemetry.systems.context_broker.calibration import probes
from telemetry.systems.context_broker.calibration.anchors import ANCHORS, GROWTH
from telemetry.systems.context_broker.calibration.fit import BROKER_ROLE, CLIENT_ROLES, fit
from telemetry.systems.context_broker.calibration.stages import Pace, Stages, observe, paces, pooled

MESSAGES, MEMORY = "processor for single messages", "memory"
PROBES_S, MEMORY_S = 17.0, 3.0


class ContextBrokerPlan(Plan):
    question_title = "Central broker with an increasing number of providers"
    anchors = ANCHORS
    more_anchors = GROWTH
    labels: ClassVar[Mapping[str, str]] = {
        "timer": "delay at the client",
        "first": "client to broker",
        "last": "answer, broker to client",
        "hop": "forwarded to the next broker",
        "back": "answer, to the previous broker",
        "relayed": "answer passed on to the client",
    }

    def workload(self, anchor: Anchor, duration_s: float) -> dict[str, Any]:
        return {"stagger_ms": 5.0, **super().workload(anchor, duration_s)}

    def probes(self, scale: float) -> Sequence[Probe]:
        return (
            Probe(BROKER_ROLE, MESSAGES, PROBES_S, lambda client, _: probes.probe(client)),
            Probe(BROKER_ROLE, MEMORY, MEMORY_S, lambda client, _: probes.memory(client)),
            *(Probe(CLIENT_ROLES[0], pace.name, _takes_s(pace), _observing(pace)) for pace in paces(scale)),
        )

    def fit(self, results: Mapping[str, Sequence[Any]]) -> Fitted:
        stages = {name: pooled(runs) for name, runs in results.items() if name not in (MESSAGES, MEMORY)}
        return fit(_together(results[MESSAGES]), _together(results[MEMORY]), stages)


def _takes_s(pace: Pace) -> float:
    return pace.request_interval_s + max(1.0, pace.duration_s) + LAUNCH_S


def _observing(pace: Pace) -> Callable[[SupervisorClient, Path], Stages]:
    return lambda client, directory: observe(client, pace, directory)


def _together(rounds: Sequence[probes.Turns]) -> probes.Turns:
    """The turns of all rounds, by name."""
    return {name: [value for one in rounds for value in one[name]] for name in rounds[0]}
