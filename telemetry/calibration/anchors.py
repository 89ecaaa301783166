"""Anchors: configurations not used for the calibration, run live and simulated to assess the simulator's accuracy.

They cover different parts of the model: one broker and ten, busy and idle, an indexed table and a long linear
one, direct answers and answers over hops. Each is run live and simulated with the same seeds, and the median
response times, from the intended sending, are compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from overlay.core.engines import SIMULATED
from overlay.core.service_times import ServiceModel
from overlay.deployment.deployment import Deployment
from overlay.journal.journal import read_journal
from overlay.runtime.own_supervisor import document_of
from overlay.runtime.supervisor_client import SupervisorClient
from overlay.sim.engine import simulate
from overlay.systems.contract import System
from overlay.systems.registry import SYSTEMS
from overlay.topologies import generate
from telemetry.calibration.live import run
from telemetry.calibration.plan import Anchor, Plan
from telemetry.errors import TelemetryError
from telemetry.lake.runs import RunFiles
from telemetry.statistics.intervals import interval

CLOSE = 0.2
"""A simulated median within this share of the live one counts as close."""
TOPOLOGY_SEED = 2018
RANKS = {"p50": 50, "p95": 95}

Responses = dict[str, float]
"""The response times of one run, microseconds, by the names of ``RANKS``."""


@dataclass(frozen=True)
class Compared:
    """An anchor live and simulated: intervals over the runs, in microseconds, by the names of ``RANKS``."""

    anchor: str
    question: str
    live: Mapping[str, Mapping[str, Any]]
    simulated: Mapping[str, Mapping[str, Any]]

    @property
    def off(self) -> float:
        """The signed difference of the simulated median, as a share of the live one."""
        return float(self.simulated["p50"]["value"] / self.live["p50"]["value"] - 1)

    @property
    def is_close(self) -> bool:
        return abs(self.off) <= CLOSE


def document_for(
    anchor: Anchor, plan: Plan, system: System, directory: Path, seed: int, duration_s: float
) -> dict[str, Any]:
    """The document of an anchor's run, with ``duration_s`` of measuring."""
    graph = generate(anchor.kind, anchor.brokers, seed=TOPOLOGY_SEED)
    return document_of(
        f"anchor-{directory.name}",
        directory,
        brokers=anchor.brokers,
        links=[{"a": link.a, "b": link.b} for link in graph.links],
        settings=anchor.settings,
        workload=plan.workload(anchor, duration_s),
        seed=seed,
        system=system.name,
    )


def run_live(client: SupervisorClient, document: Mapping[str, Any], plan: Plan) -> Responses:
    """Raises ``TelemetryError``."""
    return responses(run(client, document), plan, SYSTEMS[document["system"]])


def run_simulated(model: ServiceModel, document: Mapping[str, Any], plan: Plan) -> Responses:
    """The same document in virtual time. Raises ``TelemetryError``."""
    simulate(Deployment.from_json(document, SIMULATED), model)
    return responses(RunFiles(Path(document["directory"])), plan, SYSTEMS[document["system"]])


def compare(anchor: Anchor, live: Sequence[Responses], simulated: Sequence[Responses]) -> Compared:
    """Compare the runs of both kinds, one per seed."""
    return Compared(anchor.name, anchor.question, _over(live), _over(simulated))


def compared_again(row: Mapping[str, Any]) -> Compared:
    """An anchor from a document, with intervals computed from its replicates, because stored ones may be from the
    method of an earlier version.
    """
    kinds = (row["live"], row["simulated"])
    live, simulated = ({name: interval(one[name]["replicates"]) for name in RANKS} for one in kinds)
    return Compared(row["anchor"], row.get("question", ""), live, simulated)


def responses(files: RunFiles, plan: Plan, system: System) -> Responses:
    """The ranks of the response times of ``system``'s run, µs. Raises ``TelemetryError`` if there are none."""
    facts = (fact for path in files.journals() for fact in read_journal(path))
    times = [took for fact in facts if (took := plan.took_us(fact, system)) is not None]
    if not times:
        raise TelemetryError(f"{files.directory} has no response times.")
    return {name: float(np.percentile(times, rank)) for name, rank in RANKS.items()}


def _over(runs: Sequence[Responses]) -> dict[str, dict[str, Any]]:
    return {name: interval([one[name] for one in runs]) for name in RANKS}
