"""What messages are described with: kinds of fields, what may follow them, a field, a message.

Counterpart: ``layouts`` describes all of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Kind(StrEnum):
    """What a field holds; ``fieldkinds`` reads each."""

    CODE = "code"
    TIME = "time"
    INTEGER = "integer"
    TTL = "ttl"
    SIZE = "size"
    FLAG = "flag"
    NAME = "name"
    PAYLOAD = "payload"
    WORD = "word"
    ACK_STATUS = "ack status"
    NACK_STATUS = "nack status"
    OPERATION = "operation"
    REQUESTER = "requester"
    ADDRESS = "address"
    HOST = "host"
    PORT = "port"
    STAR = "star"
    TARGET = "target"
    COUNTERS = "counters"
    MESSAGE = "message"
    SEPARATOR = "separator"
    SURPLUS = "surplus"
    UNKNOWN = "unknown"


class Tail(StrEnum):
    """What may follow the fields that every message of a code has."""

    NONE = "nothing"
    HOPS = "hops"
    MARKED_HOPS = "marked hops"
    ADDRESSES = "addresses"
    STAR = "star"
    ADDRESSES_STAR = "addresses and a star"


@dataclass(frozen=True, slots=True)
class Field:
    """``default`` is what a form begins with; of a ``WORD`` it is the only value there is."""

    name: str
    kind: Kind
    default: str = ""
    help: str = ""


@dataclass(frozen=True, slots=True)
class Layout:
    """One message. ``fields`` are those behind the code; the timestamp is the first of them."""

    code: int
    name: str
    way: str
    purpose: str
    fields: tuple[Field, ...]
    tail: Tail = Tail.NONE
    tail_default: str = ""
    tail_help: str = ""
    changes: str = ""
    """What sending it does to a network; empty of one that only asks."""
    needs: dict[str, int | bool | str] = field(default_factory=dict)
    """Settings of a broker that knows it, where one with the defaults does not."""

    @property
    def payload_at(self) -> int | None:
        """Which of the fields is taken by its size."""
        return next((at for at, one in enumerate(self.fields) if one.kind == Kind.PAYLOAD), None)
