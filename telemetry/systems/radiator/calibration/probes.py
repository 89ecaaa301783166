"""Processor time of a server for each kind of message and unit of work, and of a fleet for each datagram.

Each cost is measured in a server of its own, whose settings isolate it. ``plan`` takes differences::

    alive                    a stranger's ALIVE, answered                  alive, together: in one batch
    context                  one that is retained, for recipients of one class
    context, evaluated       the same for ``CLASSES`` classes of recipients, each of which is evaluated
    context, pushed          the same, pushed at once to ``PUSHED`` recipients, none of which acknowledges
    acknowledged             an acknowledgement and an ALIVE
    context, chained         one that leaves as the push of a chain of ``CHAINED`` members
    joined                   one of ``JOINED`` of an aggregate, in this process: a difference would be too small
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from statistics import median
from typing import Any

from overlay.core.processes import role_of
from overlay.journal.facts import Delivery, Fact, Sample, Tick
from overlay.journal.journal import read_journal
from overlay.runtime.own_supervisor import document_of
from overlay.runtime.supervisor_client import SupervisorClient
from overlay.systems.radiator.context import Context
from overlay.systems.radiator.language.aggregates import Aggregation
from overlay.systems.radiator.system import SYSTEM
from overlay.systems.radiator.wire.compression import GZIP, deflate
from telemetry.calibration.live import Standing, run, standing
from telemetry.errors import TelemetryError
from telemetry.summary.processes import between
from telemetry.systems.radiator.calibration.prober import FILLING, Prober, probing

MESSAGES, WARMING, PORTIONS = 200, 20, 5
ROUNDS = 20
"""Of messages that are pushed to many."""
TOGETHER = 32
CLASSES, PUSHED, JOINED, CHAINED = 100, 50, 20, 100
QUIET = {"clients": 2, "messages_per_s": 0.001, "duration_s": 3_600, "stagger_ms": 0, "p2p_share": 0.0, "drain_s": 0}
"""The workload of a server that is probed. Its two clients receive, and do not call."""
PATIENT = {"rto_ms": 60_000, "chain_wait_s": 600, "alive_s": 3_600, "silence_s": 3_600, "retain_max_s": 0}
RETAINED = "{volume: 1000000}"
KEPT, REGISTERED = 2_000, 300
"""Messages and clients for which memory is measured."""
FLEET = {"clients": 50, "messages_per_s": 40, "stagger_ms": 10, "drain_s": 1}
CLIENTS = next(iter(SYSTEM.client_roles.values())).processes
Found = dict[str, float]
"""Microseconds of processor time by what was done; bytes in ``memory``."""


def server_costs(client: SupervisorClient, _: Path) -> Found:
    """Raises ``TelemetryError``."""
    retained, evaluated, pushed, chained = (
        _measured(client, measure, settings)
        for measure, settings in (
            (_retained, {"aggregability": RETAINED}),
            (_evaluated, {"aggregability": f"{RETAINED} if r.number < 0 else {RETAINED}"}),
            (_pushed, {}),
            (_chained, {"chain_percent": 100.0}),
        )
    )
    return {**retained, **evaluated, **pushed, **chained}


def joining_cost(client: SupervisorClient, directory: Path) -> float:
    """To join, write and compress an aggregate, µs for each of its messages."""
    aggregation = Aggregation("join")
    contexts = [Context((f"probe-{number}",), number, number, FILLING) for number in range(JOINED)]
    before = time.process_time_ns()
    for _ in range(MESSAGES):
        deflate(aggregation.body(contexts, {}, ""), GZIP)
    return (time.process_time_ns() - before) / MESSAGES / JOINED / 1_000


def memory(client: SupervisorClient, _: Path) -> Found:
    """Bytes of an idle server, of a client in its table, and of a retained message."""
    return _measured(client, _kept, {"aggregability": RETAINED})


def fleet_cost(client: SupervisorClient, directory: Path, seconds: float) -> float:
    """Processor time of a fleet for a datagram sent or received, in a run without chains, µs."""
    workload = {**FLEET, "duration_s": seconds}
    document = document_of(
        f"fleet-{directory.name}", directory, brokers=1, settings={}, workload=workload, seed=1, system=SYSTEM.name
    )
    return datagram_us(fact for path in run(client, document).journals() for fact in read_journal(path))


def datagram_us(facts: Iterable[Fact]) -> float:
    """Processor time of a fleet for a datagram, µs, in a run with one fleet and without chains: of the time in which
    pushes arrived, without its start and registrations. Each call and each push is a datagram received and one sent.

    Raises ``TelemetryError`` without pushes.
    """
    arrived: list[int] = []
    called: list[int] = []
    ticks: list[Tick] = []
    for fact in facts:
        if isinstance(fact, Delivery):
            arrived.append(fact.received_us)
        elif isinstance(fact, Sample):
            called.append(fact.ended_us)
        elif isinstance(fact, Tick) and role_of(fact.process) == CLIENTS:
            ticks.append(fact)
    if not arrived:
        raise TelemetryError("No push arrived in the run that measures clients.")
    first, *_, last = between(ticks, min(arrived), max(arrived))
    exchanges = sum(first.at_us < at <= last.at_us for at in (*arrived, *called))
    return (last.cpu_us - first.cpu_us) / (2 * exchanges)


def _measured(client: SupervisorClient, measure: Callable[[Prober], Found], settings: Mapping[str, Any]) -> Found:
    servers = standing(client, "radiator", 1, {**PATIENT, **settings}, QUIET, SYSTEM.name)
    with servers as (server,), probing(server) as prober:
        prober.register(1)
        return measure(prober)


def _us(server: Standing, act: Callable[[], object], times: int = MESSAGES) -> float:
    return server.cheapest_us(act, times, warming=WARMING, portions=PORTIONS)


# ---- each in a server of its own


def _retained(prober: Prober) -> Found:
    server = prober.server
    return {
        "alive": _us(server, prober.alive),
        "alive, together": _us(server, lambda: prober.alive_together(TOGETHER), ROUNDS) / TOGETHER,
        "context": _us(server, lambda: prober.call(1)),
    }


def _evaluated(prober: Prober) -> Found:
    for number in range(2, CLASSES + 2):
        prober.register(number, {"number": number})
    return {"context, evaluated": _us(prober.server, lambda: prober.call(1))}


def _pushed(prober: Prober) -> Found:
    others = range(2, PUSHED + 2)
    for number in others:
        prober.register(number)
    server = prober.server
    pushing, answering = list[int](), list[int]()
    for _ in range(ROUNDS):
        before = server.processor_ns()
        prober.call(1)
        pushes = prober.pushes(others)
        between = server.processor_ns()
        for number, push in pushes.items():
            prober.acknowledge(number, push)
        pushing.append(between - before)
        answering.append(server.processor_ns() - between)
    return {
        "context, pushed": median(pushing) / 1_000,
        "acknowledged": median(answering) / PUSHED / 1_000,
    }


def _chained(prober: Prober) -> Found:
    """The first member does not answer, and the server waits longer than this takes."""
    for number in range(2, CHAINED + 2):
        prober.register(number, is_p2p=True)
    return {"context, chained": _us(prober.server, lambda: prober.call(1), MESSAGES)}


def _kept(prober: Prober) -> Found:
    idle = prober.server.memory()
    for _ in range(KEPT):
        prober.call(1)
    full = prober.server.memory()[2]
    for number in range(2, REGISTERED + 2):
        prober.register(number)
    registered = prober.server.memory()[2]
    return {
        **dict(zip(("idle_rss", "idle_pss", "idle_uss"), map(float, idle), strict=True)),
        "retained": max(0.0, (full - idle[2]) / KEPT),
        "clients": max(0.0, (registered - full) / REGISTERED),
    }
