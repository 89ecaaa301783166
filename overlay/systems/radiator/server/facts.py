"""What a server is given at the start of its life, and the rare events that it reports."""

from __future__ import annotations

from dataclasses import dataclass

from overlay.core.node import NodeEvent


@dataclass(frozen=True, slots=True)
class Identity:
    """Random values of one life of a server."""

    epoch: int
    """64 bits, not 0."""
    key: bytes
    """16 bytes, for MACs; every client gets it."""
    secret: bytes
    """16 bytes, for tokens; it never leaves the server."""


@dataclass(frozen=True, slots=True)
class MessageAccepted(NodeEvent):
    """``number`` counts from 0; ``called_at`` is the intended instant of the call, ns since 1970."""

    number: int
    ip: str
    instance: int
    req: int
    called_at: int
    due: int
    """Its recipients: the reachable clients that Algorithm 1 considers for it."""


@dataclass(frozen=True, slots=True)
class PendingDropped(NodeEvent):
    """Messages that were pending for a client and will not be sent to it."""

    ip: str
    id: str
    reason: str
    messages: tuple[int, ...]
