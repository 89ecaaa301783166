"""What a gateway reports of its nodes."""

from __future__ import annotations

from dataclasses import dataclass

from overlay.core.node import TimedEvent


@dataclass(frozen=True, slots=True)
class NodeConnected(TimedEvent):
    node: str
    """Its id in hexadecimal, as in all events."""
    epoch: int
    is_resumed: bool


@dataclass(frozen=True, slots=True)
class NodeMoved(TimedEvent):
    """Its connection follows it to another address."""

    node: str
    host: str
    port: int


@dataclass(frozen=True, slots=True)
class NodeSilent(TimedEvent):
    """Its connection is broken, and kept for a while."""

    node: str
    epoch: int


@dataclass(frozen=True, slots=True)
class NodeDisconnected(TimedEvent):
    """``reason``: that of the transport."""

    node: str
    epoch: int
    reason: str
    undelivered: int
    """Messages that it had not acknowledged."""
