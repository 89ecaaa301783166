"""What a broker reports of other brokers and of the tree."""

from __future__ import annotations

from dataclasses import dataclass

from overlay.core.node import NodeEvent, TimedEvent


@dataclass(frozen=True, slots=True)
class TreeChanged(NodeEvent):
    """A newer epoch."""

    epoch: int
    neighbours: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NeighbourConnected(NodeEvent):
    """Both have said HELLO, and tell each other their tables."""

    broker: str


@dataclass(frozen=True, slots=True)
class ForeignNeighbour(NodeEvent):
    """It is of another domain, which sees exported scopes only."""

    broker: str
    domain: str


@dataclass(frozen=True, slots=True)
class NeighbourLost(NodeEvent):
    """What came from it is removed. ``reason``: ``unreachable``, ``gone`` as the registration service says, or
    ``away`` for too long."""

    broker: str
    reason: str


@dataclass(frozen=True, slots=True)
class NeighbourAway(NodeEvent):
    """A mobile one is unreachable. What came from it stays, and notifications for it are stored."""

    broker: str


@dataclass(frozen=True, slots=True)
class DisappearanceLearned(TimedEvent):
    """Of a client by a REGTABLE, or of a broker by BROKERS."""

    name: str
    by: str
    """``regtable`` or ``brokers``."""


@dataclass(frozen=True, slots=True)
class LinkChanged(NodeEvent):
    """The registration service is told whether a link can be used."""

    broker: str
    is_up: bool
