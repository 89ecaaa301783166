"""The events of a broker. Addresses are ``host:port`` text, for a journal."""

from __future__ import annotations

from dataclasses import dataclass

from overlay.core.node import NodeEvent


@dataclass(frozen=True, slots=True)
class NeighbourJoined(NodeEvent):
    neighbour: str


@dataclass(frozen=True, slots=True)
class NeighbourLeft(NodeEvent):
    """It said so."""

    neighbour: str


@dataclass(frozen=True, slots=True)
class NeighbourLost(NodeEvent):
    """It missed its pings and gets no more requests; it is still pinged, at growing intervals."""

    neighbour: str


@dataclass(frozen=True, slots=True)
class NeighbourReturned(NodeEvent):
    """A lost neighbour answered a ping."""

    neighbour: str


@dataclass(frozen=True, slots=True)
class NeighbourRefused(NodeEvent):
    """It does not list us as its neighbour, and did not accept a new join."""

    neighbour: str


@dataclass(frozen=True, slots=True)
class MonitoringStarted(NodeEvent):
    pass


@dataclass(frozen=True, slots=True)
class NetworkLeft(NodeEvent):
    """A controller ordered this broker to leave."""


@dataclass(frozen=True, slots=True)
class JoinFailed(NodeEvent):
    """None of the given brokers answered in time."""

    named: int


@dataclass(frozen=True, slots=True)
class NeighboursFound(NodeEvent):
    """A search for neighbours has ended with enough neighbours."""

    count: int


@dataclass(frozen=True, slots=True)
class NeighboursAwaited(NodeEvent):
    """Too few candidates answered; they are tried again at growing intervals."""

    count: int
    """Current number of neighbours."""


@dataclass(frozen=True, slots=True)
class LimitReached(NodeEvent):
    """A limit was reached; reported at most once in ten seconds per limit."""

    limit: str
    """``table``, ``pending``, the share of one source or provider (``table share``, ``pending share``),
    ``neighbours``, ``favours`` (pings for others) or ``budget`` (three times a stranger's bytes)."""
