"""The ten messages of seed 000, and the requests for neighbours and statistics, one class each.

Counterparts: ``table`` describes them field by field, ``codec`` reads and writes them.

::

    provider ── 2 ─> broker            consumer ── 3 ─> broker A ── 3|C ─> broker B ── 3|C|A ─> broker D
             <─ 5 (101), 5 (102)                <─ 5 (101)
                                                <─ 4, 5 (102) ── A <─ 4|C ───── B <─ 4|C|A|* ──── D   (B replicates)

``timestamp`` is Unix milliseconds. A hop is an address that a request was received from; the first is the consumer.
Messages are immutable by convention: a frozen class takes three times as long to create.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

from overlay.core.addresses import Address

Key = tuple[str, str, str]
"""Entity type, entity id and scope: what a request asks for."""

RawKey = bytes
"""``type|id|scope`` as on the wire, where no name has a ``|``: what tables and indices are keyed by."""

Hops = tuple[Address, ...]


def raw_key(key: Key) -> RawKey:
    return "|".join(key).encode()


def key_of(raw: RawKey) -> Key:
    entity_type, entity_id, scope = raw.decode().split("|")
    return entity_type, entity_id, scope


class Status(IntEnum):
    """Status codes of ACK (1xx) and NACK."""

    REQ_RECEIVED = 101
    REQ_PROCESSED = 102
    I_ERROR = 201
    DATA_NOT_FOUND = 202
    BAD_REQUEST = 301


@dataclass(slots=True, unsafe_hash=True)
class StartNeighborsMonitoring:
    timestamp: int


@dataclass(slots=True, unsafe_hash=True)
class Ping:
    timestamp: int


@dataclass(slots=True, unsafe_hash=True)
class ContextUpdateAdvertisement:
    timestamp: int
    flag: str
    """``A`` advertisement, ``U`` update; a broker treats both the same."""
    provider_id: str
    entity_type: str
    entity_id: str
    scope: str
    valid_begin: int
    valid_end: int
    payload: bytes

    @property
    def key(self) -> Key:
        return self.entity_type, self.entity_id, self.scope


@dataclass(slots=True, unsafe_hash=True)
class ContextRequest:
    timestamp: int
    entity_type: str
    entity_id: str
    scope: str
    hops: Hops = ()

    @property
    def key(self) -> Key:
        return self.entity_type, self.entity_id, self.scope


@dataclass(slots=True, unsafe_hash=True)
class ContextResponse:
    """``timestamp`` is that of the message that stored the entry."""

    timestamp: int
    provider_id: str
    entity_type: str
    entity_id: str
    scope: str
    valid_begin: int
    valid_end: int
    payload: bytes
    hops: Hops = ()
    marks: frozenset[int] = frozenset()
    """Positions in ``hops`` that a ``*`` follows."""

    @property
    def key(self) -> Key:
        return self.entity_type, self.entity_id, self.scope


@dataclass(slots=True, unsafe_hash=True)
class Ack:
    timestamp: int
    status: int
    operation: str
    requester: Address


@dataclass(slots=True, unsafe_hash=True)
class Nack:
    """``timestamp`` is that of the message refused; of a request, the query's at every hop."""

    timestamp: int
    status: int
    operation: str
    requester: Address
    hops: Hops = ()


@dataclass(slots=True, unsafe_hash=True)
class BrokerLeaving:
    timestamp: int
    passed_on: bool = False
    """Whether a ``*`` ends it: said by a broker to its neighbours, not ordered by a controller."""


@dataclass(slots=True, unsafe_hash=True)
class BrokerJoining:
    timestamp: int
    neighbours: tuple[Address, ...]
    passed_on: bool = False


@dataclass(slots=True, unsafe_hash=True)
class PingResponse:
    timestamp: int
    broker: Address


@dataclass(slots=True, unsafe_hash=True)
class NeighborsRequest:
    timestamp: int


@dataclass(slots=True, unsafe_hash=True)
class NeighborsResponse:
    timestamp: int
    neighbours: tuple[Address, ...]


@dataclass(slots=True, unsafe_hash=True)
class StatsRequest:
    timestamp: int


@dataclass(slots=True, unsafe_hash=True)
class StatsResponse:
    timestamp: int
    counters: Mapping[str, int]


Message = (
    StartNeighborsMonitoring
    | Ping
    | ContextUpdateAdvertisement
    | ContextRequest
    | ContextResponse
    | Ack
    | Nack
    | BrokerLeaving
    | BrokerJoining
    | PingResponse
    | NeighborsRequest
    | NeighborsResponse
    | StatsRequest
    | StatsResponse
)
