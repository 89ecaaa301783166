"""Live runs of Radiator for this section: a server and its fleets, as the web launches them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any

from benchmarks.figures import Unavailable
from benchmarks.radiator.samples import SEED
from benchmarks.servers import scratch
from overlay.journal.facts import Fact, Sample, Tick
from overlay.journal.journal import read_journal
from overlay.runtime.own_supervisor import document_of
from overlay.runtime.supervisor_client import SupervisorClient
from overlay.systems.radiator.system import SYSTEM
from telemetry.calibration.live import run
from telemetry.errors import TelemetryError

SERVER = SYSTEM.role_names[0]
LOAD = {"stagger_ms": 3, "drain_s": 2}
SECOND_US = 1_000_000
_ids = count()


@dataclass(frozen=True)
class Run:
    """The measures of the system, and the processor time of server and fleets while measuring."""

    measures: Mapping[str, float | None]
    seconds: float
    server_cpu_s: float
    fleets_cpu_s: float

    def __getitem__(self, name: str) -> float:
        return self.measures.get(name) or 0.0

    @property
    def delivered_share(self) -> float:
        return self["pairs_delivered"] / max(1.0, self["pairs_due"])

    @property
    def server_us(self) -> float:
        """The server's processor time for each original that reached a recipient."""
        return self.server_cpu_s * SECOND_US / max(1.0, self["pairs_delivered"])


def live(client: SupervisorClient, settings: Mapping[str, Any], workload: Mapping[str, Any]) -> Run:
    """One run. Raises ``Unavailable`` if it fails."""
    with scratch() as directory:
        document = document_of(
            f"bench-{next(_ids)}",
            directory / "run",
            brokers=1,
            settings=settings,
            workload={**LOAD, **workload},
            seed=SEED,
            system=SYSTEM.name,
        )
        try:
            journals = list(run(client, document).journals())
        except TelemetryError as reason:
            raise Unavailable(str(reason)) from None
        facts = [fact for path in journals for fact in read_journal(path)]
    return _run(facts, workload["duration_s"])


def _run(facts: list[Fact], seconds: float) -> Run:
    begin = min((fact.intended_us for fact in facts if isinstance(fact, Sample)), default=0)
    end = begin + seconds * SECOND_US
    ticks: dict[str, list[Tick]] = {}
    for fact in facts:
        if isinstance(fact, Tick) and begin - SECOND_US <= fact.at_us <= end + SECOND_US:
            ticks.setdefault(fact.process, []).append(fact)
    spent = {process: _cpu_s(each, seconds) for process, each in ticks.items()}
    server = sum(cpu_s for process, cpu_s in spent.items() if process.startswith(SERVER))
    return Run(SYSTEM.measures(facts), seconds, server, sum(spent.values()) - server)


def _cpu_s(ticks: list[Tick], seconds: float) -> float:
    """Of ``seconds``, from the ticks around them."""
    first, last = ticks[0], ticks[-1]
    took_us = last.at_us - first.at_us
    return (last.cpu_us - first.cpu_us) / took_us * seconds if took_us else 0.0
