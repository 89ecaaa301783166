"""What a broker reports of its clients."""

from __future__ import annotations

from dataclasses import dataclass

from overlay.core.node import NodeEvent, TimedEvent


@dataclass(frozen=True, slots=True)
class ClientRegistered(NodeEvent):
    """It was unknown before."""

    client: str
    registration: int


@dataclass(frozen=True, slots=True)
class KeepAliveMissed(NodeEvent):
    """Its registration is invalid until it is heard."""

    client: str


@dataclass(frozen=True, slots=True)
class EntryRemoved(TimedEvent):
    """With its subscriptions. ``reason``: ``expired``, ``unregistered``, or ``superseded`` by one elsewhere."""

    client: str
    reason: str
    silent_us: int
    """Since it was last heard."""
