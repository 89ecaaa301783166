"""The clients of a workload: their brokers and starts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from overlay.core.node import MILLISECOND
from overlay.load.expectations import FLEET_SIZE
from overlay.systems.silbops.names import PUBLISHER, SUBSCRIBER
from overlay.systems.silbops.workload import Workload, home_of


class ClientPlan(NamedTuple):
    """One client."""

    role: str
    number: int
    """Within its role."""
    broker: int
    """Index of the broker where it begins."""
    slot: int
    """Its place in the order of starts."""

    @property
    def name(self) -> str:
        return f"{self.role}-{self.number}"

    @property
    def id(self) -> bytes:
        """By which brokers know it: 16 bytes."""
        return client_id(self.name)

    def starts_at(self, workload: Workload) -> int:
        """ns after the start of the workload."""
        return round(self.slot * workload.stagger_ms * MILLISECOND)


def client_id(name: str) -> bytes:
    return name.encode().ljust(16, b"\0")


def client_name(id: bytes) -> str:
    return id.rstrip(b"\0").decode(errors="replace")


def plan_clients(workload: Workload, brokers: int) -> list[ClientPlan]:
    """In the order of their starts, publishers first."""
    roles = ((PUBLISHER, workload.publishers), (SUBSCRIBER, workload.subscribers))
    names = ((role, number) for role, count in roles for number in range(count))
    return [ClientPlan(role, number, home_of(number, brokers), slot) for slot, (role, number) in enumerate(names)]


def fleets(plans: Iterable[ClientPlan]) -> dict[str, list[ClientPlan]]:
    """By process: ``publishers-0``, ``subscribers-0``, …"""
    found: dict[str, list[ClientPlan]] = {}
    for plan in plans:
        found.setdefault(f"{plan.role}s-{plan.number // FLEET_SIZE}", []).append(plan)
    return found
