"""The clients of a workload, by process."""

from __future__ import annotations

from typing import NamedTuple

from overlay.core.node import MILLISECOND
from overlay.load.expectations import FLEET_SIZE
from overlay.systems.contextnet.names import APPLICATION, NODE
from overlay.systems.contextnet.workload import Workload


class ClientPlan(NamedTuple):
    role: str
    number: int
    """Within its role."""


def plan_clients(workload: Workload) -> dict[str, list[ClientPlan]]:
    """An application has a process of its own: ``applications-0``, …, ``nodes-0``, …"""
    found = {f"{APPLICATION}s-{n}": [ClientPlan(APPLICATION, n)] for n in range(workload.application_count)}
    for number in range(workload.nodes):
        found.setdefault(f"{NODE}s-{number // FLEET_SIZE}", []).append(ClientPlan(NODE, number))
    return found


def starts_at(workload: Workload, node: int) -> int:
    """ns after the start of the workload."""
    return round(node * workload.connect_interval_ms * MILLISECOND)
