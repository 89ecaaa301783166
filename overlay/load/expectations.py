"""Estimated quantities of a run, from its configuration alone. Pure.

Counterparts: a system's ``expected`` computes them; ``telemetry.sweep.costs`` converts them to seconds and bytes, and
``brokerweb.experiments.capacity`` to memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

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
class Recorded:
    """Datagrams that servers record, each at most so many bytes as the run allows."""

    bytes: float
    servers: int


@dataclass(frozen=True, slots=True)
class Expected:
    """Estimated quantities of a run."""

    servers: int
    clients: Mapping[str, int]
    """The number of clients, by workload field."""
    processes: int
    seconds: float
    """Duration of warming and measuring."""
    exchanges: float
    """The work of the simulator, in exchanges of a client with its server, which are eight events each."""
    samples: float
    """Facts of clients: exchanges and deliveries."""
    records: float = 0.0
    """Datagrams in recordings, counted at both ends if these are servers."""
    recorded: tuple[Recorded, ...] = ()
    trace_bytes: float = 0.0
    """Bytes of traces of single requests."""
    kept: Kept = field(default_factory=lambda: Kept("", 0, 0))
