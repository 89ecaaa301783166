"""The other messages beyond the ten, one class each; how brokers use them is in ``docs/extensions.md``.

Counterparts: ``table`` describes them field by field, ``codec`` reads and writes them. A broker that does not know a
code, or has its feature switched off, answers NACK 301 ``Unknown``. ``timestamp`` is Unix milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass

from overlay.core.addresses import Address
from overlay.systems.context_broker.wire.messages import ContextRequest, Hops, Key


@dataclass(slots=True, unsafe_hash=True)
class Lookahead:
    """A shallow flood for data; ``hops`` as in a ContextRequest. ``ttl`` 1 is not forwarded."""

    timestamp: int
    ttl: int
    entity_type: str
    entity_id: str
    scope: str
    hops: Hops = ()

    @property
    def key(self) -> Key:
        return self.entity_type, self.entity_id, self.scope


@dataclass(slots=True, unsafe_hash=True)
class BrokerGone:
    timestamp: int
    ttl: int
    broker: Address


@dataclass(slots=True, unsafe_hash=True)
class HopData:
    """``message`` is a whole datagram, unread."""

    timestamp: int
    sequence: int
    message: bytes


@dataclass(slots=True, unsafe_hash=True)
class HopAck:
    timestamp: int
    sequence: int


@dataclass(slots=True, unsafe_hash=True)
class IndirectPing:
    timestamp: int
    broker: Address


@dataclass(slots=True, unsafe_hash=True)
class IndirectPingResponse:
    timestamp: int
    broker: Address


@dataclass(slots=True, unsafe_hash=True)
class FindBrokers:
    timestamp: int
    target: str
    is_new: bool = False
    """Whether a ``*`` ends it: the asker does not know the asked one, and has nothing of what it was given before."""


@dataclass(slots=True, unsafe_hash=True)
class ClosestBrokers:
    """``timestamp`` is that of the question."""

    timestamp: int
    target: str
    brokers: tuple[Address, ...]


@dataclass(slots=True, unsafe_hash=True)
class FindData:
    timestamp: int
    entity_type: str
    entity_id: str
    scope: str

    @property
    def key(self) -> Key:
        return self.entity_type, self.entity_id, self.scope


@dataclass(slots=True, unsafe_hash=True)
class Record:
    """An entry as it lies in a table; ``timestamp`` is that of the message that stored it first."""

    timestamp: int
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
class DataFound(Record):
    brokers: tuple[Address, ...] = ()
    """Those that the answering one knows to be closest, as in ClosestBrokers."""


@dataclass(slots=True, unsafe_hash=True)
class StoreData(Record):
    pass


@dataclass(slots=True, unsafe_hash=True)
class DataStored:
    """``timestamp`` is that of the StoreData."""

    timestamp: int
    provider_id: str
    entity_type: str
    entity_id: str
    scope: str


@dataclass(slots=True, unsafe_hash=True)
class QuietRequest(ContextRequest):
    pass


@dataclass(slots=True, unsafe_hash=True)
class ReplicaRefresh(Record):
    pass


@dataclass(slots=True, unsafe_hash=True)
class ReplicaConfirm:
    """The provider's broker says which value is its newest; ``timestamp`` is when it said so, kept on the way."""

    timestamp: int
    provider_id: str
    entity_type: str
    entity_id: str
    scope: str
    stored: int
    """Header timestamp of the message that stored the value, Unix milliseconds."""

    @property
    def key(self) -> Key:
        return self.entity_type, self.entity_id, self.scope


Extension = (
    Lookahead
    | BrokerGone
    | HopData
    | HopAck
    | IndirectPing
    | IndirectPingResponse
    | FindBrokers
    | ClosestBrokers
    | FindData
    | DataFound
    | StoreData
    | DataStored
    | QuietRequest
    | ReplicaRefresh
    | ReplicaConfirm
)
