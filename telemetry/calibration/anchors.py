"""Anchors: configurations not used for the calibration, run live and simulated to assess the simulator's accuracy.

They cover different parts of the model: one broker and ten, busy and idle, an indexed table and a long linear
one, direct answers and answers over hops. Each is run live and simulated with the same seeds, and the median
response times, from the intended sending, are compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from overlay.core.engines import SIMULATED
from overlay.core.service_times import ServiceModel
from overlay.deployment.deployment import Deployment
from overlay.journal.facts import Sample
from overlay.journal.journal import read_journal
from overlay.runtime.own_supervisor import document_of
from overlay.runtime.supervisor_client import SupervisorClient
from overlay.sim.engine import simulate
from overlay.systems.registry import asking_roles
from overlay.topologies import generate
from telemetry.calibration.live import run
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
class Anchor:
    """One configuration and its name."""

    name: str
    kind: str
    brokers: int
    workload: Mapping[str, Any]
    settings: Mapping[str, Any] = field(default_factory=dict)
    question: str = ""
    """Anchors of one question are listed separately below it: a sentence that ends with ?, and an explanation."""

    def document(self, id: str, directory: Path, seed: int, duration_s: float) -> dict[str, Any]:
        graph = generate(self.kind, self.brokers, seed=TOPOLOGY_SEED)
        links = [{"a": link.a, "b": link.b} for link in graph.links]
        workload = {"stagger_ms": 5.0, **self.workload, "duration_s": duration_s}
        return document_of(
            id, directory, brokers=self.brokers, links=links, settings=self.settings, workload=workload, seed=seed
        )


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


def run_live(client: SupervisorClient, anchor: Anchor, directory: Path, seed: int, duration_s: float) -> Responses:
    """Raises ``TelemetryError``."""
    document = anchor.document(f"anchor-{directory.name}", directory, seed, duration_s)
    return responses(run(client, document))


def run_simulated(model: ServiceModel, anchor: Anchor, directory: Path, seed: int, duration_s: float) -> Responses:
    """The same document in virtual time. Raises ``TelemetryError``."""
    document = anchor.document(f"anchor-{directory.name}", directory, seed, duration_s)
    simulate(Deployment.from_json(document, SIMULATED), model)
    return responses(RunFiles(directory))


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


def responses(files: RunFiles) -> Responses:
    """The ranks of a run's response times, microseconds. Raises ``TelemetryError`` if no request was answered."""
    times = [sample.ended_us - sample.intended_us for sample in _answered(files)]
    if not times:
        raise TelemetryError(f"No request of {files.directory} was answered.")
    return {name: float(np.percentile(times, rank)) for name, rank in RANKS.items()}


def _answered(files: RunFiles) -> Iterator[Sample]:
    asking, measured = asking_roles(), ("measuring", "answered")
    for path in files.journals():
        for fact in read_journal(path):
            if isinstance(fact, Sample) and fact.role in asking and (fact.phase, fact.outcome) == measured:
                yield fact


def _over(runs: Sequence[Responses]) -> dict[str, dict[str, Any]]:
    return {name: interval([one[name] for one in runs]) for name in RANKS}
