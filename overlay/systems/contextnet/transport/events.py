"""What the ends of a transport tell those above them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

from overlay.core.addresses import Address
from overlay.core.node import NodeEvent
from overlay.systems.contextnet.transport.layouts import Refusal
from overlay.systems.contextnet.transport.packets import Close, Kind


class Receipt(NamedTuple):
    """Names a message that arrived at a gateway, until its record is durable."""

    node: bytes
    stream: int
    """Of one node, rises with each connection that resumed none."""
    sequence: int


class Ending(StrEnum):
    """Why a connection ended. The first six are the reasons of CLOSE, in their order."""

    DONE = "done"
    MOVED = "moved"
    IDLE = "idle"
    SUPERSEDED = "superseded"
    SHUTTING_DOWN = "shutting down"
    PROTOCOL = "protocol"
    BROKEN = "broken"
    """DATA was repeated too often, or the peer was silent for too long."""
    RESET = "reset"
    """The gateway does not know it any more."""
    REPLACED = "replaced"
    """By a new connection of the same node that does not resume it."""


ENDINGS: Final = dict(zip(Close, Ending, strict=False))
"""By the reason of CLOSE."""


@dataclass(frozen=True, slots=True)
class Opened(NodeEvent):
    node: bytes
    epoch: int
    gateway: Address | None
    """At a node: which gateway. At a gateway: ``None``."""
    resumed: bool


@dataclass(frozen=True, slots=True)
class Arrived(NodeEvent):
    """A whole message, in order."""

    node: bytes
    kind: Kind
    data: bytes
    receipt: Receipt | None
    """To be settled; ``None`` if it is acknowledged on receipt."""


@dataclass(frozen=True, slots=True)
class Acknowledged(NodeEvent):
    """A message of ours: its token of ``send``."""

    node: bytes
    token: object


@dataclass(frozen=True, slots=True)
class Expired(NodeEvent):
    """A message of ours that a gateway did not send: its time was over when its turn came. Its token of ``send``."""

    node: bytes
    token: object


@dataclass(frozen=True, slots=True)
class Answered(NodeEvent):
    """A PONG."""

    node: bytes
    value: int


@dataclass(frozen=True, slots=True)
class Moved(NodeEvent):
    """The node was shown to be at a new address."""

    node: bytes
    address: Address


@dataclass(frozen=True, slots=True)
class Repeating(NodeEvent):
    """A gateway's connection has begun to repeat."""

    node: bytes


@dataclass(frozen=True, slots=True)
class Lingering(NodeEvent):
    """A connection is broken and kept for its node."""

    node: bytes
    epoch: int


@dataclass(frozen=True, slots=True)
class Ended(NodeEvent):
    node: bytes
    epoch: int
    reason: Ending
    undelivered: tuple[object, ...]
    """Tokens of the messages that were not acknowledged, in order. A node keeps them for its next connection."""


@dataclass(frozen=True, slots=True)
class Refused(NodeEvent):
    """By a gateway. After ``Refusal.SECRET`` the node does not try again."""

    gateway: Address
    code: Refusal
