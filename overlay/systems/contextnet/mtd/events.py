"""What a store notes. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from overlay.core.node import NodeEvent

SENT, EXPIRED, EVICTED = "sent", "expired", "evicted"


@dataclass(frozen=True, slots=True)
class TakingOver(NodeEvent):
    """It reads what a gateway that is gone has left."""

    gateway: str


@dataclass(frozen=True, slots=True)
class GivenBack(NodeEvent):
    """The gateway is there again."""

    gateway: str


class Stay(NamedTuple):
    """Of one message, for ``traces``, when it is over."""

    id: bytes
    node: bytes
    stored_us: int
    until_us: int
    """Unix µs."""
    ending: str
    """``SENT``, ``EXPIRED`` or ``EVICTED``."""
