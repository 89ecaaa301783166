"""What runs need of the machine that carries them out, and what would not fit, said before anything is launched. Pure.

Figures are measured ones rounded up, but for those of clients, which are cautious guesses (``docs/experiments.md`` says
which): a launch is refused only for what could not go well, and warned of where it would become tight.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from overlay.core.engines import LIVE, SIMULATED
from overlay.core.errors import InvalidSetting
from overlay.experiment import sweeps
from overlay.experiment.definition import MAX_REPLICATES, MAX_RUNS
from overlay.load.expectations import FLEET_SIZE, Expected
from overlay.systems.registry import SYSTEMS
from telemetry.formatting import size
from telemetry.sweep import costs

MB = 1_000_000

LIVE_BASE, LIVE_BROKER, LIVE_FLEET, LIVE_CLIENT = 60 * MB, 2.2 * MB, 18 * MB, 12_000
"""Bytes of memory: supervisor and zygote; one more idle broker; one process of clients; a client in it."""
SIMULATED_BASE, SIMULATED_BROKER, SIMULATED_CLIENT = 150 * MB, 20_000, 3_000
SPARE_FILES = 100
"""Open files of a process of clients that are no client's."""


@dataclass(frozen=True, slots=True)
class Machine:
    """What there is."""

    memory_bytes: int
    free_bytes: int
    """On the disk that runs are written to, beside what is always kept free."""
    open_files: int
    """That one process may have."""
    client_ports: int
    """That the kernel gives to sockets without a port of their own."""
    broker_ports: int
    """That no other network's brokers are on."""


@dataclass(frozen=True, slots=True)
class Needs:
    """What one run takes, in bytes."""

    memory: float
    disk: float


def needs(configuration: Mapping[str, Any]) -> Needs:
    """What a run of ``configuration`` takes."""
    found = _expected(configuration)
    brokers, clients = found.servers, sum(found.clients.values())
    kept = 2 * found.kept.count * found.kept.bytes_each
    if configuration["engine"] == LIVE:
        fleets = found.processes - found.servers
        memory = LIVE_BASE + brokers * LIVE_BROKER + fleets * LIVE_FLEET + clients * LIVE_CLIENT + kept
    else:
        memory = SIMULATED_BASE + brokers * SIMULATED_BROKER + clients * SIMULATED_CLIENT + kept
    return Needs(memory, costs.disk_bytes(configuration))


def _expected(configuration: Mapping[str, Any]) -> Expected:
    return SYSTEMS[configuration["system"]].expected(configuration)


def check_count(definition: Mapping[str, Any]) -> None:
    """Raises ``InvalidSetting`` for more runs than one launch makes, with what would fit."""
    configurations, replicates = sweeps.count(definition), definition["replicates"]
    if not isinstance(replicates, int) or configurations * replicates <= MAX_RUNS or replicates > MAX_REPLICATES:
        return
    made = f"{configurations:,} configurations × {replicates:,} replicates are {configurations * replicates:,} runs"
    most = f"one launch makes at most {MAX_RUNS:,}"
    if configurations <= MAX_RUNS:
        raise InvalidSetting("replicates", f"{made}; {most}. {MAX_RUNS // configurations:,} would fit")
    axes = sweeps.axes(definition)
    if not axes:  # one value, many times over
        return
    longest = max(axes, key=lambda name: len(axes[name]))
    left = MAX_RUNS * len(axes[longest]) // (configurations * replicates)
    raise InvalidSetting(
        longest,
        f"{made}; {most}. This list has {len(axes[longest]):,} values"
        + (f"; {left:,} would fit" if left else " and is the longest, but others have to be shorter, too"),
    )


def check(configurations: Sequence[Mapping[str, Any]], machine: Machine, at_a_time: int) -> None:
    """Raises ``InvalidSetting`` for what the machine does not hold, naming the field and the number that it would.

    ``at_a_time`` is how many simulated runs go side by side.
    """
    for configuration in configurations:
        engine = configuration["engine"]
        if engine == LIVE:
            _check_ports(configuration, machine)
        needed = needs(configuration).memory * (min(at_a_time, len(configurations)) if engine == SIMULATED else 1)
        if machine.memory_bytes and needed > machine.memory_bytes:
            raise _too_large(configuration, needed, machine, at_a_time if engine == SIMULATED else 1)


def _check_ports(configuration: Mapping[str, Any], machine: Machine) -> None:
    found = _expected(configuration)
    brokers, wanted = found.servers, found.clients
    if brokers > machine.broker_ports:
        raise InvalidSetting(
            "topology",
            f"has {brokers:,} brokers, and {machine.broker_ports:,} of the ports for brokers are left beside the "
            "networks that are up. Stop a network, or choose a smaller topology",
        )
    role, clients = max(wanted, key=wanted.__getitem__), sum(wanted.values())
    if clients > machine.client_ports:
        fits = max(machine.client_ports - (clients - wanted[role]), 0)
        raise InvalidSetting(
            f"workload.{role}",
            f"{clients:,} clients need a port each, and this machine has {machine.client_ports:,} to give. {fits:,} "
            "would fit; the simulated engine needs none",
        )
    if min(wanted[role], FLEET_SIZE) + SPARE_FILES > machine.open_files:
        raise InvalidSetting(
            f"workload.{role}",
            f"up to {FLEET_SIZE:,} clients share a process, and it may open {machine.open_files:,} files here. "
            f"{max(machine.open_files - SPARE_FILES, 0):,} would fit, or a higher limit of open files (ulimit -n)",
        )


def _too_large(configuration: Mapping[str, Any], needed: float, machine: Machine, at_a_time: int) -> InvalidSetting:
    """Blames what takes the most, and says how many of it would fit."""
    is_live = configuration["engine"] == LIVE
    found = _expected(configuration)
    wanted, kept = found.clients, found.kept
    of_broker, of_client = (LIVE_BROKER, LIVE_CLIENT) if is_live else (SIMULATED_BROKER, SIMULATED_CLIENT)
    role = max(wanted, key=wanted.__getitem__)
    parts = {
        "topology": (found.servers, of_broker, "brokers"),
        f"workload.{role}": (wanted[role], of_client, role),
        f"workload.{kept.field}": (kept.count, 2 * kept.bytes_each, kept.field),
    }
    field = max(parts, key=lambda name: parts[name][0] * parts[name][1])
    count, each, word = parts[field]
    room = machine.memory_bytes / at_a_time - (needed / at_a_time - count * each)
    fits = max(int(room / each), 0)
    side = f", {at_a_time} runs side by side" if at_a_time > 1 else ""
    return InvalidSetting(
        field,
        f"{count:,} {word} at {size(each)} each need {size(needed)} of memory with the rest{side}; this machine has "
        f"{size(machine.memory_bytes)}. {fits:,} would fit",
    )


def warning(disk_bytes: float, machine: Machine) -> str:
    """What to know of the disk before a launch; empty where there is room."""
    if disk_bytes <= machine.free_bytes:
        return ""
    return (
        f"Its samples take about {size(disk_bytes)} of the disk, of which {size(machine.free_bytes)} are left. "
        "Delete runs that are no longer needed, or record less"
    )
