"""The configuration of a network's servers: what all have in common. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from overlay.systems.contextnet.gateway.settings import SECRET
from overlay.systems.contextnet.names import application_name
from overlay.systems.contextnet.records.names import answers_topic
from overlay.systems.contextnet.settings import Settings


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """Of every server, without its place."""

    settings: Settings
    secret: str
    """Of the network, 32 bytes in hexadecimal digits."""
    applications: int = 0
    """Those of a workload."""
    definers: int = 0
    capacities: tuple[int, ...] = ()
    """Connections that load each gateway fully; empty: they are measured."""
    load_noise: float = 0.0

    @property
    def can_revoke(self) -> bool:
        """Whether operators may revoke secrets of nodes: in networks, not in runs, which have applications."""
        return not self.applications and self.settings.auth == SECRET

    @property
    def application_names(self) -> tuple[str, ...]:
        return tuple(map(application_name, range(self.applications)))

    @property
    def answers(self) -> frozenset[str]:
        """Topics of answers to applications."""
        return frozenset(map(answers_topic, self.application_names))
