"""What a broker reports because it is rare. Addresses are ``host:port`` text, ready for a journal."""

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
    """It missed its pings and gets no more requests; it is pinged on, ever more seldom."""

    neighbour: str


@dataclass(frozen=True, slots=True)
class NeighbourReturned(NodeEvent):
    """A lost one answered a ping."""

    neighbour: str


@dataclass(frozen=True, slots=True)
class NeighbourRefused(NodeEvent):
    """It does not take us for its neighbour, and did not take us in when it was asked to."""

    neighbour: str


@dataclass(frozen=True, slots=True)
class MonitoringStarted(NodeEvent):
    pass


@dataclass(frozen=True, slots=True)
class NetworkLeft(NodeEvent):
    """A controller ordered this broker to leave."""


@dataclass(frozen=True, slots=True)
class JoinFailed(NodeEvent):
    """None of those named answered in time."""

    named: int


@dataclass(frozen=True, slots=True)
class NeighboursFound(NodeEvent):
    """A search for neighbours is over: there are enough."""

    count: int


@dataclass(frozen=True, slots=True)
class NeighboursAwaited(NodeEvent):
    """Too few candidates can be had; they are tried again, ever more seldom."""

    count: int
    """How many neighbours there are."""


@dataclass(frozen=True, slots=True)
class LimitReached(NodeEvent):
    """A bound was hit; reported at most once in ten seconds per limit."""

    limit: str
    """``table``, ``pending``, one source's or provider's share of them (``table share``, ``pending share``),
    ``neighbours``, ``favours`` (pings for others) or ``budget`` (three times a stranger's bytes)."""
