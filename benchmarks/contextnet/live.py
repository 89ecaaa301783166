"""Live runs of ContextNet for this section: one gateway, a log of its own, its nodes and an application."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.figures import Unavailable
from benchmarks.peers.processes import Threads
from benchmarks.radiator.samples import SEED
from benchmarks.servers import scratch, supervisor
from overlay.journal.journal import read_journal
from overlay.runtime.logs.engines import VARIABLE
from overlay.runtime.logs.valkey import instance
from overlay.runtime.logs.valkey.asking import asking
from overlay.runtime.logs.valkey.connection import Server
from overlay.runtime.logs.valkey.engine import ANSWER_S
from overlay.runtime.own_supervisor import document_of
from overlay.runtime.redis_server import NoEngine
from overlay.runtime.supervisor_client import SupervisorClient, is_gone, reason_of
from overlay.systems.contextnet.system import SYSTEM

LOAD = {"connect_interval_ms": 2, "drain_s": 5}
ENDED = ("finished", "failed", "stopped")
TURN_S = 0.1


@dataclass(frozen=True)
class Live:
    """The measures of a run, and processor seconds while measuring."""

    measures: Mapping[str, float | None]
    gateway_s: float
    servers_s: float
    """Of all servers and the log."""

    def __getitem__(self, name: str) -> float:
        return self.measures[name] or 0.0


def live(workload: Mapping[str, Any]) -> Live:
    """One run. Raises ``Unavailable`` if it fails, or without an engine for the log."""
    try:
        with scratch() as directory, instance.own_instance() as url, supervisor(**{VARIABLE: url}) as client:
            document = document_of(
                "bench",
                directory / "run",
                brokers=1,
                settings={"trace_one_in": 0},
                workload={**LOAD, **workload},
                seed=SEED,
                system=SYSTEM.name,
            )
            spent = _spent(client, document, _serving(url))
            journals = (directory / "run" / "journal").glob("*.journal")
            measures = SYSTEM.measures(fact for path in journals for fact in read_journal(path))
    except NoEngine as reason:
        raise Unavailable(str(reason)) from None
    return Live(measures, spent[0], sum(spent))


def _spent(client: SupervisorClient, document: dict[str, Any], log: int) -> list[float]:
    """Of the gateway, the other servers and the log."""
    status, before, now = client.deploy(document), list[float](), list[float]()
    while not (status["phase"] in ENDED and is_gone(status)):
        if status["phase"] == "measuring":
            processes = [*(one["pid"] for one in status["brokers"] if one["pid"]), log]
            now = [Threads(pid).cpu_seconds() for pid in processes]
            before = before or now
        time.sleep(TURN_S)
        status = client.status(document["id"])
    if status["phase"] != "finished" or not before:
        raise Unavailable(reason_of(status))
    return [end - begin for begin, end in zip(before, now, strict=True)]


def _serving(url: str) -> int:
    """The process of a log."""
    with asking(Server.of(url), ANSWER_S) as ask:
        lines = ask("INFO", "server").decode().splitlines()
    return int(next(line.partition(":")[2] for line in lines if line.startswith("process_id:")))
