"""What clients of a run cost: their processor time live, and their datagrams in virtual time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from overlay.core.curves import Curve
from overlay.core.engines import SIMULATED
from overlay.core.processes import role_of
from overlay.core.service_times import Costs, ServiceModel
from overlay.deployment.deployment import Deployment
from overlay.journal.facts import Tick
from overlay.journal.journal import read_journal
from overlay.runtime.calibrated import reference
from overlay.runtime.own_supervisor import document_of
from overlay.runtime.supervisor_client import SupervisorClient
from overlay.sim.engine import simulate
from overlay.systems.contract import System
from telemetry.calibration.fitting import at_least_nothing
from telemetry.calibration.live import files_of, run

DIFFERS = 0.01
"""Share of the bytes that must be others to tell what they cost."""
SLEPT_S = 50e-6
"""A process with nothing to do for so long has slept, which costs it a wake-up and what others did to its caches."""


class Fleet(NamedTuple):
    """What a group of clients did in a run."""

    spent_us: float
    """Processor time."""
    datagrams: float
    """Sent and received."""
    kilobytes: float
    """In them; 1,000 bytes."""


NOTHING = Fleet(0.0, 0.0, 0.0)


def clients_of(system: System) -> tuple[str, ...]:
    """The names of their processes."""
    return tuple(role.processes for role in system.client_roles.values())


def fleet_costs(
    client: SupervisorClient,
    directory: Path,
    system: System,
    workload: Mapping[str, Any],
    settings: Mapping[str, Any],
) -> dict[str, Fleet]:
    """By group of clients, in a run with one broker.

    Datagrams and bytes are counted in virtual time, where each takes the clients 1 µs and the others none.
    """
    document = document_of(
        directory.name,
        directory,
        brokers=1,
        links=(),
        settings=settings,
        workload=workload,
        seed=1,
        system=system.name,
    )
    spent = _spent_us(run(client, document).journals(), system)
    datagrams = _counted(document, system, "datagrams", Costs(0, 1, 1))
    kilobytes = _counted(document, system, "kilobytes", Costs(0, 0, 0, kilobyte_us=1))
    return {name: Fleet(spent[name], max(1.0, datagrams[name]), kilobytes[name]) for name in clients_of(system)}


def busiest_of(rounds: Sequence[Mapping[str, Fleet]], name: str) -> Fleet:
    """Of the round in which a datagram of these clients was cheapest."""
    return min((one[name] for one in rounds), key=lambda fleet: fleet.spent_us / fleet.datagrams)


def kilobyte_us(busy: Fleet, long: Fleet, short: Fleet = NOTHING) -> float:
    """What 1,000 bytes cost, if a datagram costs the same in all: from ``long``, which slept as often as ``short`` and
    differs from it in bytes. ``busy`` hardly slept, so that if ``long`` did not either, ``short`` is nothing. 0 if it
    does not differ."""
    datagrams, kilobytes = long.datagrams - short.datagrams, long.kilobytes - short.kilobytes
    spread = kilobytes - datagrams * busy.kilobytes / busy.datagrams
    if abs(spread) < DIFFERS * busy.kilobytes:
        return 0.0
    return at_least_nothing((long.spent_us - short.spent_us - datagrams * busy.spent_us / busy.datagrams) / spread)


def costs_of(runs: Sequence[tuple[float, Fleet]], kilobyte_us: float = 0.0) -> Costs:
    """What a datagram costs, and what it costs after a sleep in addition.

    ``runs``: from the busiest on, each with the seconds after which the same happens in it again, 0 where all happens
    at once. The first tells what a datagram costs without a sleep. Clients read and write before they send.

    After a run where all happens at once, any sleep costs what it costs in the next one: in that, most sleeps are
    shorter than the mean, and costs that grow from 0 on with the sleep would be half of those measured.
    """
    busiest = runs[0][1]
    each = at_least_nothing((busiest.spent_us - kilobyte_us * busiest.kilobytes) / busiest.datagrams)
    colder = {0.0: 0.0, runs[0][0]: 0.0}
    for every_s, fleet in runs[1:]:
        warm = each * fleet.datagrams + kilobyte_us * fleet.kilobytes
        cost = at_least_nothing((fleet.spent_us - warm) / fleet.datagrams)
        if len(colder) == 1:  # the run before never slept
            colder[SLEPT_S] = cost
        colder[every_s] = cost
    cold = Curve(tuple(colder), tuple(colder.values()))
    return Costs(batch_us=0.0, other_us=each, sent_us=each, kilobyte_us=kilobyte_us, cold_us=cold, sends_last=True)


def _counted(document: Mapping[str, Any], system: System, what: str, each: Costs) -> dict[str, float]:
    """The processor time of clients, µs, with these costs."""
    counted = {**document, "directory": f"{document['directory']}-{what}"}
    files = files_of(counted, SIMULATED)
    deliveries = reference().deliveries
    assert deliveries is not None, "the reference has deliveries"
    costs = {**dict.fromkeys(system.role_names, Costs(0, 0, 0)), **dict.fromkeys(clients_of(system), each)}
    simulate(Deployment.from_json(counted, SIMULATED), ServiceModel(costs, deliveries))
    return _spent_us(files.journals(), system)


def _spent_us(journals: Iterable[Path], system: System) -> dict[str, float]:
    """Processor time of each group of clients between its first tick and its last."""
    ticks: dict[str, list[int]] = {name: [] for name in clients_of(system)}
    for path in journals:
        for fact in read_journal(path):
            if isinstance(fact, Tick) and role_of(fact.process) in ticks:
                ticks[role_of(fact.process)].append(fact.cpu_us)
    return {name: float(max(found) - min(found)) for name, found in ticks.items()}
