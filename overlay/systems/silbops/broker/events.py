"""What a broker reports of its clients and neighbours."""

from __future__ import annotations

from dataclasses import dataclass

from overlay.core.node import NodeEvent, TimedEvent


@dataclass(frozen=True, slots=True)
class ClientAttached(NodeEvent):
    """``old``: the broker that it came from; empty if it is new or was away here."""

    client: str
    """Its 16 bytes in hexadecimal digits, as in all events."""
    publisher: str
    """The key that its notifications have, likewise."""
    is_resumed: bool
    old: str
    kept: int
    """Notifications that waited for it."""


@dataclass(frozen=True, slots=True)
class ClientLost(NodeEvent):
    """It is away: its session has ended, with the reason of the channel."""

    client: str
    reason: str
    unacknowledged: int
    """Notifications that were sent, and are kept."""


@dataclass(frozen=True, slots=True)
class ClientRemoved(TimedEvent):
    """With all its rows. ``reason``: ``away`` for keep_s, ``renewed`` by an ATTACH of a new one."""

    client: str
    reason: str
    kept: int
    """Notifications that are lost with it."""


@dataclass(frozen=True, slots=True)
class ClientMoved(TimedEvent):
    """To another broker, with its subscriptions, advertisements and kept notifications."""

    client: str
    to: str
    subscriptions: int
    kept: int


@dataclass(frozen=True, slots=True)
class MoveFailed(TimedEvent):
    """The old broker does not know the client, or has not answered in time: it begins with nothing."""

    client: str
    old: str


@dataclass(frozen=True, slots=True)
class ValidityEnded(TimedEvent):
    """Of a subscription or advertisement."""

    client: str
    table: str
    id: int


@dataclass(frozen=True, slots=True)
class NeighbourConnected(NodeEvent):
    """Both have said PEER, and tell each other the differences of their tables."""

    broker: str


@dataclass(frozen=True, slots=True)
class NeighbourLost(NodeEvent):
    """What came from it is removed. ``reason`` is the channel's."""

    broker: str
    reason: str


@dataclass(frozen=True, slots=True)
class NeighbourRefused(NodeEvent):
    """It says that it is another broker, or speaks another version."""

    broker: str
    said: str
