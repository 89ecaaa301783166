"""The values of records, by topic, and messages (contract, section 2). Times are Unix microseconds unless said."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from overlay.core.addresses import Address

ALL = "*"
"""The key of records to all, and the destination of a broadcast."""


class Reason(StrEnum):
    """Why a gateway hands a message over."""

    ABSENT = "absent"
    BROKEN = "broken"
    """Also of connections that moved or were superseded."""
    MINI_BUFFER = "mini_buffer"
    QUEUE = "queue"
    REVOKED = "revoked"


@dataclass(frozen=True, slots=True)
class Message:
    """A message of an application or a mobile node."""

    id: bytes
    """16 bytes, drawn by the sender."""
    source: str
    """A node's id in hexadecimal, or the name of an application."""
    destination: str
    """A node, ``definer/group``, a bare group, ``*``, or a topic."""
    created_at: int
    ttl_s: int = 0
    """0: none given."""
    payload: bytes = b""
    context: bytes = b""
    """On every message of a mobile node; its bytes are a MessagePack map."""
    reply_to: str = ""
    """Where the answer goes: a node or a topic."""


class Amount(NamedTuple):
    total: int
    free: int


class Pong(NamedTuple):
    node: bytes
    rtt_us: int


class Held(NamedTuple):
    """A node with an open connection."""

    node: bytes
    epoch: int


class Ranked(NamedTuple):
    gateway: str
    address: Address
    score: float
    """0: it takes no more nodes, and has those that it has until they move."""


@dataclass(frozen=True, slots=True)
class HelloPoa:
    gateway: str
    address: Address
    incarnation: int
    capacity: int
    """``max_connections``."""


@dataclass(frozen=True, slots=True)
class PingConfig:
    period_s: int
    window_ms: int
    version: int


@dataclass(frozen=True, slots=True)
class LoadReport:
    gateway: str
    seq: int
    at: int
    pool_size: int
    pool_used: int
    cpu: float
    """0 to 1: the busy share of the period."""
    memory: Amount
    """Bytes of the machine."""
    process_memory: Amount
    """Bytes; free of ``memory_limit_mb``."""
    connections: int
    messages_in: int
    messages_out: int
    queue: int
    lag_ms: int


@dataclass(frozen=True, slots=True)
class ConnectionReport:
    """One part of a gateway's report after a ping round."""

    gateway: str
    seq: int
    at: int
    ping_sent_at: int
    window_ms: int
    pinged: int
    pongs: tuple[Pong, ...]
    nodes: tuple[Held, ...]
    """Open at ``at``; at most 4,096 in a part."""
    part: int = 0
    parts: int = 1


@dataclass(frozen=True, slots=True)
class GatewayList:
    version: int
    gateways: tuple[Ranked, ...]
    """The best first."""


@dataclass(frozen=True, slots=True)
class HandOver:
    round: int
    node: bytes
    targets: tuple[Address, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class Unsent:
    message: Message
    gateway: str
    epoch: int
    reason: Reason
    attempts: int = 0


@dataclass(frozen=True, slots=True)
class ContextReport:
    node: bytes
    epoch: int
    context: bytes
    at: int


@dataclass(frozen=True, slots=True)
class GroupReport:
    """In topic ``group_advertisement``."""

    definer: str
    node: bytes
    groups: tuple[str, ...]
    version: int
    """Position of the context record."""


@dataclass(frozen=True, slots=True)
class Inbound:
    """In ``inbound``, or another topic that nodes may publish to."""

    message: Message
    gateway: str
    epoch: int


@dataclass(frozen=True, slots=True)
class Outbound:
    """In ``gateway.<id>`` and ``outbound``."""

    message: Message
    epoch: int = 0
    """Of the sender's directory; 0: not known."""
    attempts: int = 0


@dataclass(frozen=True, slots=True)
class Groupcast:
    """In ``groupcast`` and ``broadcast``."""

    message: Message
    group: str
    """``definer/group``, a bare group of any definer, or ``*``."""


@dataclass(frozen=True, slots=True)
class Presence:
    node: bytes
    gateway: str
    epoch: int
    connected: bool


@dataclass(frozen=True, slots=True)
class Credential:
    """Which secret of a node is valid, if it is not its first one."""

    node: bytes
    generation: int
    """How many of its secrets were revoked before."""
    is_revoked: bool


@dataclass(frozen=True, slots=True)
class Discarded:
    """In ``discarded``: what the store dropped."""

    id: bytes
    node: bytes
    reason: str
    """``expired`` or ``evicted``."""


@dataclass(frozen=True, slots=True)
class NetworkName:
    """In ``network_name``."""

    name: str


@dataclass(frozen=True, slots=True)
class Rejected:
    """In ``rejected``: a record that cannot be read."""

    topic: str
    reader: str
    reason: str
    value: bytes
