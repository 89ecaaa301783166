"""The configuration of a network's servers: what all have in common, and the place of one of them. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from overlay.systems.federation.names import SERVICE, broker_name
from overlay.systems.federation.settings import Settings

if TYPE_CHECKING:
    from overlay.systems.federation.wire.values import Candidate


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """Of every server, without its place."""

    settings: Settings
    brokers: int
    """Servers 0 to ``brokers - 1`` are brokers, the one after them is the registration service."""
    links: tuple[tuple[int, int, int], ...] = ()
    """The candidates for edges of the tree: two brokers, and the one-way delay, µs."""
    positions: tuple[tuple[float, float], ...] | None = None
    device_clients: tuple[str, ...] = ()
    """Names of the clients on a device that has no broker, if its energy is modelled. They are at broker 0."""
    is_open: bool = False
    """Whether clients from outside may find its brokers by multicast: those of a network, not of a run."""

    @property
    def server_names(self) -> frozenset[str]:
        """Those that no client may have."""
        return frozenset({SERVICE, *map(broker_name, range(self.brokers))})

    def candidates(self, broker: int) -> tuple[Candidate, ...]:
        """The links of a broker, all up."""
        from overlay.systems.federation.wire.values import Candidate  # only servers of federations need it

        ends = {a if b == broker else b: delay for a, b, delay in self.links if broker in (a, b)}
        return tuple(Candidate(broker_name(other), delay, True) for other, delay in sorted(ends.items()))

    def position(self, broker: int) -> tuple[float, float] | None:
        return self.positions[broker] if self.positions else None

    def is_mobile(self, broker: int) -> bool:
        return broker in self.settings.mobile_indices
