"""Anchors: configurations not used for the calibration, run live and simulated to assess the simulator's accuracy.

They cover different parts of the model: one broker and ten, busy and idle, an indexed table and a long linear
one, direct answers and answers over hops. Each is run live and simulated with the same seeds, and compared: response
times from the intended sending, processor time by role, which other load on the machine hardly changes, and
measures that the system chose.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from overlay.core.engines import SIMULATED
from overlay.core.processes import role_of
from overlay.core.service_times import ServiceModel
from overlay.deployment.deployment import Deployment
from overlay.journal.journal import read_journal
from overlay.runtime.own_supervisor import document_of
from overlay.runtime.supervisor_client import SupervisorClient
from overlay.sim.engine import simulate
from overlay.systems.contract import System
from overlay.topologies import generate
from telemetry.calibration.live import files_of, run
from telemetry.calibration.plan import Anchor, Plan
from telemetry.errors import TelemetryError
from telemetry.lake.runs import RunFiles
from telemetry.measures import Measure, figures_in
from telemetry.statistics.intervals import interval

CLOSE = 0.2
"""A simulated median within this share of the live one counts as close."""
TOPOLOGY_SEED = 2018
RANKS = {"p50": 50, "p95": 95}

Responses = dict[str, float]
"""Of one run: its response times, microseconds, by the names of ``RANKS``, and further figures by the names of
``Reading.further``."""


@dataclass(frozen=True)
class Further:
    """What is compared in addition to response times."""

    name: str
    title: str
    unit: str
    """As of a measure."""


@dataclass(frozen=True)
class Reading:
    """How the runs of a system's anchors are read."""

    plan: Plan
    system: System
    summarise: Callable[[RunFiles], Mapping[str, Any]]
    """The summary of a run that has ended. Raises ``TelemetryError``."""
    measures: Sequence[Measure] = ()
    """Those in ``Plan.measures``."""

    @property
    def further(self) -> list[Further]:
        """What is compared in addition: the processor time of each role, and ``measures``."""
        busy = [Further(cores_of(role), f"Busy cores of {role}", "cores") for role in self.system.timed_roles]
        return busy + [Further(one.key, one.title, one.unit) for one in self.measures]


class Ran(NamedTuple):
    """One run of an anchor."""

    figures: Responses
    reasons: Sequence[str] = ()
    """Why it is suspect."""


@dataclass(frozen=True)
class Compared:
    """An anchor live and simulated: intervals over the runs, by the names of ``RANKS`` and of ``Reading.further``."""

    anchor: str
    question: str
    live: Mapping[str, Mapping[str, Any]]
    simulated: Mapping[str, Mapping[str, Any]]
    configuration: Mapping[str, Any] = field(default_factory=dict)
    """``topology``, ``settings`` and ``workload``; empty in documents of earlier versions."""
    doubts: Sequence[str] = ()
    """Why live runs are suspect."""
    origin: Mapping[str, Any] = field(default_factory=dict)
    """Date, machine and versions of its live runs; empty: those of the costs."""

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
    document = document_of(
        f"anchor-{directory.name}",
        directory,
        brokers=anchor.brokers,
        links=[{"a": link.a, "b": link.b} for link in graph.links],
        settings=anchor.settings,
        workload=plan.workload(anchor, duration_s),
        seed=seed,
        system=system.name,
    )
    return {**document, "faults": [dict(one) for one in anchor.faults]} if anchor.faults else document


def cores_of(role: str) -> str:
    """The name of the processor time of a role per elapsed time of measuring."""
    return f"cores of {role}"


def run_live(client: SupervisorClient, document: Mapping[str, Any], reading: Reading) -> Ran:
    """Raises ``TelemetryError``."""
    return ran(run(client, document), reading)


def run_simulated(model: ServiceModel, document: Mapping[str, Any], reading: Reading) -> Ran:
    """The same document in virtual time. Raises ``TelemetryError``."""
    files = files_of(document, SIMULATED)
    simulate(Deployment.from_json(document, SIMULATED), model)
    return ran(files, reading)


def compare(
    anchor: Anchor, live: Sequence[Ran], simulated: Sequence[Ran], configuration: Mapping[str, Any] | None = None
) -> Compared:
    """Compare the runs of both kinds, one per seed."""
    doubts = tuple(dict.fromkeys(reason for one in live for reason in one.reasons))
    return Compared(anchor.name, anchor.question, _over(live), _over(simulated), dict(configuration or {}), doubts)


def compared_again(row: Mapping[str, Any]) -> Compared:
    """An anchor from a document, with intervals computed from its replicates, because stored ones may be from the
    method of an earlier version.
    """
    kinds = (row["live"], row["simulated"])
    live, simulated = ({name: interval(found["replicates"]) for name, found in one.items()} for one in kinds)
    configuration, doubts = row.get("configuration", {}), tuple(row.get("doubts", ()))
    return Compared(
        row["anchor"], row.get("question", ""), live, simulated, configuration, doubts, row.get("origin", {})
    )


def ran(files: RunFiles, reading: Reading) -> Ran:
    """The figures of a run that has ended. Raises ``TelemetryError`` if there are none."""
    summary = reading.summarise(files)
    return Ran({**_responses(files, reading), **_further(summary, reading)}, summary["verdict_reasons"])


def _further(summary: Mapping[str, Any], reading: Reading) -> Responses:
    """By the names of ``Reading.further``, without what is unknown."""
    found: Responses = {}
    for process, cores in summary["processor"]["by_process"].items():
        if (role := role_of(process)) in reading.system.timed_roles:
            found[cores_of(role)] = found.get(cores_of(role), 0.0) + cores
    return found | figures_in(summary, reading.measures)


def _responses(files: RunFiles, reading: Reading) -> Responses:
    """The ranks of the response times, µs."""
    facts = (fact for path in files.journals() for fact in read_journal(path))
    times = [took for fact in facts if (took := reading.plan.took_us(fact, reading.system)) is not None]
    if not times:
        raise TelemetryError(f"{files.directory} has no response times.")
    return {name: float(np.percentile(times, rank)) for name, rank in RANKS.items()}


def _over(runs: Sequence[Ran]) -> dict[str, dict[str, Any]]:
    """What all runs have."""
    first, *others = (one.figures for one in runs)
    names = [name for name in first if all(name in one for one in others)]
    return {name: interval([one.figures[name] for one in runs]) for name in names}
