"""What a PoA manager notes. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from overlay.core.node import NodeEvent


@dataclass(frozen=True, slots=True)
class Acting(NodeEvent):
    """It decides from now on."""


@dataclass(frozen=True, slots=True)
class StandingBy(NodeEvent):
    """Another manager decides."""


@dataclass(frozen=True, slots=True)
class GatewayActive(NodeEvent):
    gateway: str


@dataclass(frozen=True, slots=True)
class GatewayLapsed(NodeEvent):
    """Its reports are missing."""

    gateway: str


@dataclass(frozen=True, slots=True)
class MovesOrdered(NodeEvent):
    """Nodes were told to move, in one round."""

    nodes: int


class Round(NamedTuple):
    """A round of the manager that acts, for ``traces``."""

    at: int
    """``now``, ns."""
    number: int
    counts: Mapping[str, int]
    """Nodes by gateway; those that were told to move at their target."""
    wanted: Mapping[str, int]
    """In(X); empty if no move was considered."""
    scores: Mapping[str, float]
    given: Counter[str]
    """Nodes that each gateway was told to give away; ``taken``: that were told to move to it."""
    taken: Counter[str]
    budget: int
    draining: frozenset[str]
    """Gateways that are to be empty."""

    @property
    def moves(self) -> int:
        return sum(self.given.values())
