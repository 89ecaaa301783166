"""What a channel reports, in one ordered list."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple, final

from overlay.core.addresses import Address


class Reason(StrEnum):
    """Why a session ended."""

    RESET = "reset"
    """The peer has started again, or has ended the session without an orderly end."""
    UNREACHABLE = "unreachable"
    CLOSED = "closed"
    OVERFLOW = "overflow"
    """Twice the bound of the outbox was waiting, or the user gave the peer up."""
    BROKEN = "broken"
    """The peer sent a message of more than 65,536 bytes."""


class Up(NamedTuple):
    """A session has begun."""

    peer: bytes
    address: Address


@final
class Message:
    """The next message of the peer. The frequent event is a plain class: compiled, it is made with far less work than a
    tuple with names."""

    __slots__ = ("message", "peer")

    def __init__(self, peer: bytes, message: bytes) -> None:
        self.peer = peer
        self.message = message

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Message) and self.peer == other.peer and self.message == other.message

    def __hash__(self) -> int:
        return hash((self.peer, self.message))

    def __repr__(self) -> str:
        return f"Message(peer={self.peer!r}, message={self.message!r})"


class Loose(NamedTuple):
    """A message outside sessions. Without a key, ``id`` is what the sender says."""

    id: bytes
    message: bytes
    source: Address


class Moved(NamedTuple):
    """The peer has another address."""

    peer: bytes
    address: Address


class Quiet(NamedTuple):
    """The peer is unreachable; its session was opened with ``keep`` and stays."""

    peer: bytes


class Back(NamedTuple):
    """The peer of a quiet session was heard."""

    peer: bytes


class Down(NamedTuple):
    """A session, or the attempt to open one, has ended."""

    peer: bytes
    reason: Reason
    undelivered: list[bytes]
    """Messages that were not acknowledged, in order. The peer may have received the first of them."""


Event = Up | Message | Loose | Moved | Quiet | Back | Down
