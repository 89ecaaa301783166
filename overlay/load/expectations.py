"""How much of everything a run is expected to have, from its configuration alone. Pure.

Counterparts: a system's ``expected`` fills it in; ``telemetry.sweep.costs`` makes seconds and bytes of it, and
``brokerweb.experiments.capacity`` the memory that a run takes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

ASKED = 0.5
"""What a server that is asked on the way costs, of a client's exchange with its server: four events for eight."""
FLEET_SIZE = 1000
"""Clients that share one process of the load generator."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Data that servers keep in memory."""

    field: str
    """Of the workload, which sets their number."""
    count: int
    bytes_each: int


@dataclass(frozen=True, slots=True)
class Expected:
    """How much of everything a run has, about."""

    servers: int
    clients: Mapping[str, int]
    """How many clients by the field of the workload that says so."""
    processes: int
    seconds: float
    """Of warming and measuring."""
    requests: float
    updates: float = 0.0
    asked: float = 0.0
    """Servers that are asked on the way, over all requests."""
    steps: float = 0.0
    """How many of them have been asked before one, in the mean: what its hops say."""
    back: float = 0.0
    """Payloads that come back for each server that is asked on the way."""
    pings: float = 0.0
    refreshes: float = 0.0
    """Updates that are sent on to replicas."""
    payload_bytes: int = 0
    with_clients: int = 0
    """Servers that have clients."""
    traced_one_in: int = 0
    """0: nothing is traced."""
    kept: Kept = field(default_factory=lambda: Kept("", 0, 0))

    @property
    def exchanges(self) -> float:
        return self.updates + self.requests + ASKED * self.asked + self.pings + self.refreshes

    @property
    def records(self) -> float:
        """Datagrams recorded, at both ends where these are servers."""
        return 2 * self.updates + 3 * self.requests + 2.5 * self.asked + 4 * self.pings + 4 * self.refreshes
