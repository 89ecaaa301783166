"""Resources that runs need, checked against the machine before a launch. Pure.

Values are measured and rounded up; those of clients are cautious estimates (see ``docs/experiments.md``). A launch is
refused only if it cannot work, with a warning if resources are scarce.
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
"""Memory in bytes: supervisor and zygote; one more idle broker; one client process; one client in it."""
SIMULATED_BASE, SIMULATED_BROKER, SIMULATED_CLIENT = 150 * MB, 20_000, 3_000
SPARE_FILES = 100
"""Open files of a client process that do not belong to a client."""


@dataclass(frozen=True, slots=True)
class Machine:
    """The resources of a machine."""

    memory_bytes: int
    free_bytes: int
    """Free bytes on the disk of runs, without the reserve."""
    open_files: int
    """Open-file limit of one process."""
    client_ports: int
    """Number of ephemeral ports."""
    broker_ports: int
    """Broker ports not used by other networks."""


@dataclass(frozen=True, slots=True)
class Needs:
    """Needs of one run, in bytes."""

    memory: float
    disk: float


def needs(configuration: Mapping[str, Any]) -> Needs:
    """The needs of a run of ``configuration``."""
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
    """Raises ``InvalidSetting`` if a launch would have too many runs, with the number that fits."""
    configurations, replicates = sweeps.count(definition), definition["replicates"]
    if not isinstance(replicates, int) or configurations * replicates <= MAX_RUNS or replicates > MAX_REPLICATES:
        return
    made = f"{configurations:,} configurations × {replicates:,} replicates = {configurations * replicates:,} runs"
    most = f"the limit per launch is {MAX_RUNS:,}"
    if configurations <= MAX_RUNS:
        raise InvalidSetting("replicates", f"{made}; {most}. {MAX_RUNS // configurations:,} would fit")
    axes = sweeps.axes(definition)
    if not axes:  # one value, repeated
        return
    longest = max(axes, key=lambda name: len(axes[name]))
    left = MAX_RUNS * len(axes[longest]) // (configurations * replicates)
    raise InvalidSetting(
        longest,
        f"{made}; {most}. This list has {len(axes[longest]):,} values"
        + (f"; {left:,} would fit" if left else " and is the longest, but other lists must be shorter too"),
    )


def check(configurations: Sequence[Mapping[str, Any]], machine: Machine, at_a_time: int) -> None:
    """Raises ``InvalidSetting`` if the machine lacks a resource, naming the field and the value that fits.

    ``at_a_time`` is the number of concurrent simulated runs.
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
            f"has {brokers:,} brokers, but only {machine.broker_ports:,} broker ports are free next to the "
            "running networks. Stop a network, or choose a smaller topology",
        )
    role, clients = max(wanted, key=wanted.__getitem__), sum(wanted.values())
    if clients > machine.client_ports:
        fits = max(machine.client_ports - (clients - wanted[role]), 0)
        raise InvalidSetting(
            f"workload.{role}",
            f"{clients:,} clients need one port each, and this machine has {machine.client_ports:,}. {fits:,} "
            "fit; the simulated engine needs no ports",
        )
    if min(wanted[role], FLEET_SIZE) + SPARE_FILES > machine.open_files:
        raise InvalidSetting(
            f"workload.{role}",
            f"up to {FLEET_SIZE:,} clients share a process, which may open {machine.open_files:,} files. "
            f"{max(machine.open_files - SPARE_FILES, 0):,} fit; or raise the limit of open files (ulimit -n)",
        )


def _too_large(configuration: Mapping[str, Any], needed: float, machine: Machine, at_a_time: int) -> InvalidSetting:
    """Blames the field that needs most, with the number that fits."""
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
    side = f", {at_a_time} concurrent runs" if at_a_time > 1 else ""
    return InvalidSetting(
        field,
        f"{count:,} {word} at {size(each)} each need {size(needed)} of memory with the rest{side}; this machine has "
        f"{size(machine.memory_bytes)}. {fits:,} would fit",
    )


def warning(disk_bytes: float, machine: Machine) -> str:
    """Disk warning before a launch; empty if there is enough space."""
    if disk_bytes <= machine.free_bytes:
        return ""
    return (
        f"Its samples take about {size(disk_bytes)} of the disk, of which {size(machine.free_bytes)} are left. "
        "Delete old runs, or reduce the recording size"
    )
