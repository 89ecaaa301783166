"""What a broker reports because it is rare. Addresses are ``host:port`` text, ready for a journal."""

from __future__ import annotations

from dataclasses import dataclass

from overlay.core.node import Event


@dataclass(frozen=True, slots=True)
class NeighbourJoined(Event):
    neighbour: str


@dataclass(frozen=True, slots=True)
class NeighbourLeft(Event):
    """It said so."""

    neighbour: str


@dataclass(frozen=True, slots=True)
class NeighbourLost(Event):
    """It missed its pings and gets no more requests; it is pinged on, ever more seldom."""

    neighbour: str


@dataclass(frozen=True, slots=True)
class NeighbourReturned(Event):
    """A lost one answered a ping."""

    neighbour: str


@dataclass(frozen=True, slots=True)
class NeighbourRefused(Event):
    """It does not take us for its neighbour, and did not take us in when it was asked to."""

    neighbour: str


@dataclass(frozen=True, slots=True)
class MonitoringStarted(Event):
    pass


@dataclass(frozen=True, slots=True)
class NetworkLeft(Event):
    """A controller ordered this broker to leave."""


@dataclass(frozen=True, slots=True)
class JoinFailed(Event):
    """None of those named answered in time."""

    named: int


@dataclass(frozen=True, slots=True)
class NeighboursFound(Event):
    """A search for neighbours is over: there are enough."""

    count: int


@dataclass(frozen=True, slots=True)
class NeighboursAwaited(Event):
    """Too few candidates can be had; they are tried again, ever more seldom."""

    count: int
    """How many neighbours there are."""


@dataclass(frozen=True, slots=True)
class LimitReached(Event):
    """A bound was hit; reported at most once in ten seconds per limit."""

    limit: str
    """``table``, ``pending``, one source's or provider's share of them (``table share``, ``pending share``),
    ``neighbours``, ``favours`` (pings for others) or ``budget`` (three times a stranger's bytes)."""
