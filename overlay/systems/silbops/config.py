"""The configuration of a network's brokers: what all have in common. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from overlay.systems.silbops.settings import Settings


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """Of every broker, without its place."""

    settings: Settings
    brokers: int
    links: tuple[tuple[int, int], ...] = ()
    """Of the topology. Those of the tree are used."""
    is_followed: bool = False
    """Whether brokers list all that they have processed: for the windows of measures, in simulated runs."""
