"""Estimated quantities of a run, from its configuration alone. Pure.

Counterparts: a system's ``expected`` computes them; ``telemetry.sweep.costs`` converts them to seconds and bytes, and
``brokerweb.experiments.capacity`` to memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

ASKED = 0.5
"""The cost of a server on the path, relative to a client's exchange with its server: four events instead of eight."""
FLEET_SIZE = 1000
"""Maximum clients in one process of the load generator."""


@dataclass(frozen=True, slots=True)
class Kept:
    """Data in the memory of servers."""

    field: str
    """The workload field with their number."""
    count: int
    bytes_each: int


@dataclass(frozen=True, slots=True)
class Expected:
    """Estimated quantities of a run."""

    servers: int
    clients: Mapping[str, int]
    """The number of clients, by workload field."""
    processes: int
    seconds: float
    """Duration of warming and measuring."""
    requests: float
    updates: float = 0.0
    asked: float = 0.0
    """Servers asked on the path, over all requests."""
    steps: float = 0.0
    """Mean number of servers asked before each of them, the length of its hops."""
    back: float = 0.0
    """Payloads returned per server asked on the path."""
    pings: float = 0.0
    refreshes: float = 0.0
    """Updates forwarded to replicas."""
    payload_bytes: int = 0
    with_clients: int = 0
    """Servers that have clients."""
    traced_one_in: int = 0
    """0: no tracing."""
    kept: Kept = field(default_factory=lambda: Kept("", 0, 0))

    @property
    def exchanges(self) -> float:
        return self.updates + self.requests + ASKED * self.asked + self.pings + self.refreshes

    @property
    def records(self) -> float:
        """Recorded datagrams, counted at both ends if these are servers."""
        return 2 * self.updates + 3 * self.requests + 2.5 * self.asked + 4 * self.pings + 4 * self.refreshes
