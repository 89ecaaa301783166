"""What the registration service reports."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from overlay.core.node import NodeEvent, TimedEvent
from overlay.systems.federation.bdrs.forest import Edge


class Removal(StrEnum):
    LEFT = "left"
    """It has unregistered."""
    SILENT = "silent"
    """Its keep-alives have ended."""


@dataclass(frozen=True, slots=True)
class BrokerRegistered(NodeEvent):
    """A broker that was not registered."""

    broker: str
    endpoint: str
    is_mobile: bool


@dataclass(frozen=True, slots=True)
class BrokerRemoved(TimedEvent):
    broker: str
    reason: Removal
    silent_us: int
    """Since its last registration or keep-alive."""


@dataclass(frozen=True, slots=True)
class TreePublished(NodeEvent):
    epoch: int
    brokers: int
    edges: tuple[Edge, ...]
