"""The messages beyond the ten (wire-protocol section 4; ours in ``docs/extensions.md``), one class each.

Counterpart: ``wire`` reads and writes them with those of ``messages``. A broker that does not know a code, or has its
feature switched off, answers NACK 301 ``Unknown``. ``timestamp`` is Unix milliseconds.

::

    16 Lookahead          walk step ─> neighbours        answered with 4 along the hops, or by silence
    17 BrokerGone         flooded, TTL hops far          never answered
    22 HopData            broker ─> broker               carries any message; answered with 23 HopAck
    24 IndirectPing       broker ─> helper               helper pings the address; 25 IndirectPingResponse if it lives
    26 FindBrokers        27 ClosestBrokers              the structured arm: brokers next to an identifier
    28 FindData           29 DataFound, or 27            the structured arm: data, or brokers next to it
    30 StoreData          31 DataStored                  the structured arm: keep an entry
    32 QuietRequest       consumer ─> broker             a 3 that is answered with 4 or 6 only
    33 ReplicaRefresh     holder ─> replica              a newer value for an entry that it marked there; never answered
    34 ReplicaConfirm     holder ─> replica              the value there is still the newest; never answered
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

from overlay.core.addresses import Address, format_address, parse_address
from overlay.core.errors import WireError
from overlay.systems.context_broker.broker.fields import (
    check_key,
    check_name,
    read_asked,
    read_content,
    read_hops,
    read_integer,
    split_fields,
    write_addresses,
    write_hops,
)
from overlay.systems.context_broker.broker.messages import ContextRequest, Hops, Key

TARGET_DIGITS = 40
"""Hexadecimal digits of an identifier of the structured arm: 160 bits."""


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


CODES: dict[type, int] = {
    Lookahead: 16,
    BrokerGone: 17,
    HopData: 22,
    HopAck: 23,
    IndirectPing: 24,
    IndirectPingResponse: 25,
    FindBrokers: 26,
    ClosestBrokers: 27,
    FindData: 28,
    DataFound: 29,
    StoreData: 30,
    DataStored: 31,
    QuietRequest: 32,
    ReplicaRefresh: 33,
    ReplicaConfirm: 34,
}

NEVER_ANSWERED = frozenset({23, 25, 27, 29, 31})
"""Answers; see ``messages.NEVER_ANSWERED``."""

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


# ---- reading

R = TypeVar("R", bound=Record)
T = TypeVar("T")

_broker = lru_cache(maxsize=4096)(parse_address)
"""Lists of brokers name the same ones again and again."""


def _ttl(text: str) -> int:
    ttl = read_integer(text)
    if not 1 <= ttl <= 255:
        raise WireError(f"a TTL is from 1 to 255, not {ttl}")
    return ttl


def _target(text: str) -> str:
    if len(text) != TARGET_DIGITS or text.strip("0123456789abcdef"):
        raise WireError(f"{text[:60]!r} is not an identifier of {TARGET_DIGITS} hexadecimal digits")
    return text


def _lookahead(data: bytes) -> Lookahead:
    stamp, ttl, entity_type, entity_id, scope, *hops = split_fields(data, 5)
    return Lookahead(read_integer(stamp), _ttl(ttl), *check_key(entity_type, entity_id, scope), read_hops(hops))


def _gone(data: bytes) -> BrokerGone:
    stamp, ttl, broker = split_fields(data, 3, 3)
    return BrokerGone(read_integer(stamp), _ttl(ttl), parse_address(broker))


def _hop_data(data: bytes) -> HopData:
    parts = data.split(b"|", 3)
    if len(parts) != 4 or not parts[3]:
        raise WireError("a field is missing")
    return HopData(read_integer(parts[1].decode()), read_integer(parts[2].decode()), parts[3])


def _stamp_and(read: Callable[[str], T], message: Callable[[int, T], Extension]) -> Callable[[bytes], Extension]:
    def parser(data: bytes) -> Extension:
        stamp, field = split_fields(data, 2, 2)
        return message(read_integer(stamp), read(field))

    return parser


def _closest(data: bytes) -> ClosestBrokers:
    stamp, target, *brokers = split_fields(data, 2)
    return ClosestBrokers(read_integer(stamp), _target(target), tuple(map(_broker, brokers)))


def _find_brokers(data: bytes) -> FindBrokers:
    stamp, target, *star = split_fields(data, 2, 3)
    if star not in ([], ["*"]):
        raise WireError("FindBrokers ends in the target or *")
    return FindBrokers(read_integer(stamp), _target(target), bool(star))


def _find_data(data: bytes) -> FindData:
    stamp, entity_type, entity_id, scope = split_fields(data, 4, 4)
    return FindData(read_integer(stamp), *check_key(entity_type, entity_id, scope))


def _record(message: type[R]) -> Callable[[bytes], R]:
    def parser(data: bytes) -> R:
        content, surplus = read_content(data)
        if surplus:
            raise WireError("the payload is longer than PayloadSize")
        return message(*content)

    return parser


def _data_found(data: bytes) -> DataFound:
    content, rest = read_content(data)
    if rest and not rest.startswith(b"|"):
        raise WireError("the payload is longer than PayloadSize")
    return DataFound(*content, tuple(map(_broker, rest.decode().split("|")[1:])))


def _stored(data: bytes) -> DataStored:
    stamp, *names = split_fields(data, 5, 5)
    return DataStored(read_integer(stamp), *map(check_name, names))


def _confirm(data: bytes) -> ReplicaConfirm:
    stamp, provider, entity_type, entity_id, scope, stored = split_fields(data, 6, 6)
    key = check_key(entity_type, entity_id, scope)
    return ReplicaConfirm(read_integer(stamp), check_name(provider), *key, read_integer(stored))


def _quiet(data: bytes) -> QuietRequest:
    return QuietRequest(*read_asked(data))


PARSERS: dict[bytes, Callable[[bytes], Extension]] = {
    b"16": _lookahead,
    b"17": _gone,
    b"22": _hop_data,
    b"23": _stamp_and(read_integer, HopAck),
    b"24": _stamp_and(parse_address, IndirectPing),
    b"25": _stamp_and(parse_address, IndirectPingResponse),
    b"26": _find_brokers,
    b"27": _closest,
    b"28": _find_data,
    b"29": _data_found,
    b"30": _record(StoreData),
    b"31": _stored,
    b"32": _quiet,
    b"33": _record(ReplicaRefresh),
    b"34": _confirm,
}


# ---- writing


def _start(message: Any) -> str:
    return f"{CODES[type(message)]}|{message.timestamp}"


def _names(message: Any) -> str:
    return "|".join(map(check_name, message.key))


def _encode_record(m: Record) -> bytes:
    if not m.payload or m.valid_begin >= m.valid_end:
        raise WireError("a record has a payload, and ValidBegin before ValidEnd")
    names = f"{check_name(m.provider_id)}|{_names(m)}"
    return f"{_start(m)}|{len(m.payload)}|{names}|{m.valid_begin}|{m.valid_end}|".encode() + m.payload


def _encode_stored(m: DataStored) -> bytes:
    names = map(check_name, (m.provider_id, m.entity_type, m.entity_id, m.scope))
    return f"{_start(m)}|{'|'.join(names)}".encode()


ENCODERS: dict[type, Callable[[Any], bytes]] = {
    Lookahead: lambda m: f"{_start(m)}|{m.ttl}|{_names(m)}{write_hops(m.hops)}".encode(),
    BrokerGone: lambda m: f"{_start(m)}|{m.ttl}|{format_address(m.broker)}".encode(),
    HopData: lambda m: f"{_start(m)}|{m.sequence}|".encode() + m.message,
    HopAck: lambda m: f"{_start(m)}|{m.sequence}".encode(),
    IndirectPing: lambda m: f"{_start(m)}|{format_address(m.broker)}".encode(),
    IndirectPingResponse: lambda m: f"{_start(m)}|{format_address(m.broker)}".encode(),
    FindBrokers: lambda m: f"{_start(m)}|{m.target}{'|*' if m.is_new else ''}".encode(),
    ClosestBrokers: lambda m: f"{_start(m)}|{m.target}{write_addresses(m.brokers)}".encode(),
    FindData: lambda m: f"{_start(m)}|{_names(m)}".encode(),
    DataFound: lambda m: _encode_record(m) + write_addresses(m.brokers).encode(),
    StoreData: _encode_record,
    DataStored: _encode_stored,
    QuietRequest: lambda m: f"{_start(m)}|{_names(m)}{write_hops(m.hops)}".encode(),
    ReplicaRefresh: _encode_record,
    ReplicaConfirm: lambda m: f"{_start(m)}|{check_name(m.provider_id)}|{_names(m)}|{m.stored}".encode(),
}
