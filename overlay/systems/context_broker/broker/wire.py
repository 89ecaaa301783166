"""Bytes to messages and back.

Counterparts: ``messages`` and ``extensions``, whose fields ``fields`` reads and writes. ``parse`` is total: any bytes
give a message or ``WireError``. Splitting is strict (exact field counts, no empty field), and a payload is taken by its
size in bytes and never searched for separators: the prototype's tokeniser dropped empty fields and let a payload inject
hops.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from overlay.core.addresses import Address, format_address, parse_address
from overlay.core.errors import WireError
from overlay.systems.context_broker.broker import extensions, messages
from overlay.systems.context_broker.broker.extensions import Extension
from overlay.systems.context_broker.broker.fields import (
    MAX_DATAGRAM,
    MAX_PAYLOAD,
    check_key,
    check_name,
    read_asked,
    read_content,
    read_hops,
    read_integer,
    read_marked_hops,
    read_payload,
    read_validity,
    split_fields,
    write_addresses,
    write_hops,
)
from overlay.systems.context_broker.broker.messages import (
    OPERATIONS,
    UNKNOWN,
    Ack,
    BrokerJoining,
    BrokerLeaving,
    ContextRequest,
    ContextResponse,
    ContextUpdateAdvertisement,
    Hops,
    Message,
    Nack,
    NeighborsRequest,
    NeighborsResponse,
    Ping,
    PingResponse,
    StartNeighborsMonitoring,
    StatsRequest,
    StatsResponse,
    Status,
)

AnyMessage = Message | Extension

CODES: dict[type, int] = messages.CODES | extensions.CODES

NEVER_ANSWERED = messages.NEVER_ANSWERED | extensions.NEVER_ANSWERED

_ACKS = {str(int(status)): int(status) for status in Status if status < 200}
_NACKS = {str(int(status)): int(status) for status in Status if status >= 200}
_OPERATIONS = frozenset({*OPERATIONS.values(), UNKNOWN})


# ---- reading


def parse(data: bytes) -> AnyMessage:
    """The message in a datagram. Raises ``WireError`` and nothing else."""
    if len(data) > MAX_DATAGRAM:
        raise WireError(f"{len(data)} bytes are more than a datagram holds")
    parser = _PARSERS.get(data[: data.find(b"|")])
    if parser is None:
        raise WireError(f"{data[:20]!r} does not start with the code of a known message")
    try:
        return parser(data)
    except UnicodeDecodeError:
        raise WireError("not UTF-8") from None


def code_of(data: bytes) -> int | None:
    """The code that a datagram claims, readable or not; ``None`` where it does not tell."""
    return _lenient_integer(data.partition(b"|")[0])


def timestamp_of(data: bytes) -> int | None:
    """The timestamp that a datagram claims, readable or not; ``None`` where it does not tell."""
    return _lenient_integer(data[:50].partition(b"|")[2].partition(b"|")[0])


def _lenient_integer(field: bytes) -> int | None:
    try:
        return read_integer(field[:50].decode())
    except (UnicodeDecodeError, WireError):
        return None


def _only_timestamp(message: Callable[[int], Message]) -> Callable[[bytes], Message]:
    return lambda data: message(read_integer(split_fields(data, 1, 1)[0]))


def _update(data: bytes) -> Message:
    parts = data.split(b"|", 10)
    if len(parts) != 11:
        raise WireError("a field is missing")
    stamp, size, flag, provider, entity_type, entity_id, scope, begin, end = (part.decode() for part in parts[1:10])
    payload, surplus = read_payload(size, parts[10])
    if surplus:
        raise WireError("the payload is longer than PayloadSize")
    if flag not in ("A", "U"):
        raise WireError(f"{flag[:10]!r} is not the flag A or U")
    names = check_name(provider), *check_key(entity_type, entity_id, scope)
    return ContextUpdateAdvertisement(read_integer(stamp), flag, *names, *read_validity(begin, end), payload)


def _request(data: bytes) -> Message:
    return ContextRequest(*read_asked(data))


def _response(data: bytes) -> Message:
    content, tail = read_content(data)
    if tail and not tail.startswith(b"|"):
        raise WireError("the payload is longer than PayloadSize")
    return ContextResponse(*content, *read_marked_hops(tail.decode().split("|")[1:]))


def _acknowledgement(fields: list[str], word: str, statuses: dict[str, int]) -> tuple[int, int, str, Address]:
    stamp, kind, status, operation, requester = fields
    if kind != word or not status.startswith("Status:") or status[7:] not in statuses:
        raise WireError(f"not {word}|Status:<one of {', '.join(statuses)}>")
    if not operation.startswith("Operation ") or operation[10:] not in _OPERATIONS:
        raise WireError(f"{operation[:60]!r} is not the name of an operation")
    if not requester.startswith("Requested by "):
        raise WireError("Requested by is missing")
    return read_integer(stamp), statuses[status[7:]], operation[10:], parse_address(requester[13:])


def _ack(data: bytes) -> Message:
    return Ack(*_acknowledgement(split_fields(data, 5, 5), "ACK", _ACKS))


def _nack(data: bytes) -> Message:
    fields = split_fields(data, 5)
    return Nack(*_acknowledgement(fields[:5], "NACK", _NACKS), read_hops(fields[5:]))


def _leaving(data: bytes) -> Message:
    stamp, *star = split_fields(data, 1, 2)
    if star not in ([], ["*"]):
        raise WireError("BrokerLeaving ends in nothing or *")
    return BrokerLeaving(read_integer(stamp), bool(star))


def _joining(data: bytes) -> Message:
    stamp, *named = split_fields(data, 2)
    passed_on = named[-1] == "*"
    if passed_on:
        named.pop()
    if not named:
        raise WireError("BrokerJoining names nobody")
    return BrokerJoining(read_integer(stamp), tuple(map(parse_address, named)), passed_on)


def _ping_response(data: bytes) -> Message:
    stamp, word, broker = split_fields(data, 3, 3)
    if word != "Ctx_Broker":
        raise WireError("not Ctx_Broker")
    return PingResponse(read_integer(stamp), parse_address(broker))


def _neighbors_response(data: bytes) -> Message:
    stamp, *neighbours = split_fields(data, 1)
    return NeighborsResponse(read_integer(stamp), tuple(map(parse_address, neighbours)))


def _stats_response(data: bytes) -> Message:
    stamp, field = split_fields(data, 2, 2)
    counters = {}
    for pair in field.split(";"):
        name, equals, value = pair.partition("=")
        if not name or not equals or name in counters:
            raise WireError(f"{pair[:60]!r} is not one name=value")
        counters[name] = read_integer(value)
    return StatsResponse(read_integer(stamp), counters)


_PARSERS: dict[bytes, Callable[[bytes], AnyMessage]] = {
    **extensions.PARSERS,
    b"0": _only_timestamp(StartNeighborsMonitoring),
    b"1": _only_timestamp(Ping),
    b"2": _update,
    b"3": _request,
    b"4": _response,
    b"5": _ack,
    b"6": _nack,
    b"7": _leaving,
    b"8": _joining,
    b"9": _ping_response,
    b"18": _only_timestamp(NeighborsRequest),
    b"19": _neighbors_response,
    b"20": _only_timestamp(StatsRequest),
    b"21": _stats_response,
}


# ---- writing


def encode(message: AnyMessage) -> bytes:
    """The datagram of a message. Raises ``WireError`` where a value from outside (a name, a payload) does not fit."""
    try:
        data = _ENCODERS[type(message)](message)
    except UnicodeEncodeError as error:
        raise WireError(f"{error.object[error.start : error.end]!r} is no character of UTF-8 text") from None
    if len(data) > MAX_DATAGRAM:
        raise WireError(f"{len(data)} bytes are more than a datagram holds")
    return data


def encode_ack(timestamp: int, status: int, operation: str, requester: Address) -> bytes:
    """``encode(Ack(...))`` without the message: two of these go out with every answer."""
    return (
        f"5|{timestamp}|ACK|Status:{status:d}|Operation {operation}|Requested by {format_address(requester)}".encode()
    )


def with_hops(response: bytes, hops: Hops, marks: Collection[int] = ()) -> bytes:
    """An encoded Response that has no hops, with these behind it. It may be longer than ``MAX_DATAGRAM``."""
    return response + "".join(
        f"|{host}|{port}|*" if position in marks else f"|{host}|{port}" for position, (host, port) in enumerate(hops)
    ).encode("ascii")


def _encode_update(m: ContextUpdateAdvertisement) -> bytes:
    return f"2|{m.timestamp}|{len(m.payload)}|{m.flag}|{_content(m)}|".encode() + m.payload


def _encode_response(m: ContextResponse) -> bytes:
    return with_hops(f"4|{m.timestamp}|{len(m.payload)}|{_content(m)}|".encode() + m.payload, m.hops, m.marks)


def _content(m: ContextUpdateAdvertisement | ContextResponse) -> str:
    if not 1 <= len(m.payload) <= MAX_PAYLOAD:
        raise WireError(f"a payload has 1 to {MAX_PAYLOAD} bytes, not {len(m.payload)}")
    if m.valid_begin >= m.valid_end:
        raise WireError("ValidBegin is not before ValidEnd")
    return "|".join([check_name(m.provider_id), *map(check_name, m.key), str(m.valid_begin), str(m.valid_end)])


def _encode_request(m: ContextRequest) -> bytes:
    return f"3|{m.timestamp}|{'|'.join(map(check_name, m.key))}{write_hops(m.hops)}".encode()


def _encode_nack(m: Nack) -> bytes:
    return (
        f"6|{m.timestamp}|NACK|Status:{m.status:d}|Operation {m.operation}"
        f"|Requested by {format_address(m.requester)}{write_hops(m.hops)}"
    ).encode()


def _encode_stats(m: StatsResponse) -> bytes:
    return f"21|{m.timestamp}|{';'.join(f'{name}={value}' for name, value in m.counters.items())}".encode()


def _encode_joining(m: BrokerJoining) -> bytes:
    return _encode_plain(m) + f"{write_addresses(m.neighbours)}{'|*' if m.passed_on else ''}".encode()


def _encode_plain(m: Any) -> bytes:
    return f"{CODES[type(m)]}|{m.timestamp}".encode()


_ENCODERS: dict[type, Callable[[Any], bytes]] = {
    **extensions.ENCODERS,
    StartNeighborsMonitoring: _encode_plain,
    Ping: _encode_plain,
    ContextUpdateAdvertisement: _encode_update,
    ContextRequest: _encode_request,
    ContextResponse: _encode_response,
    Ack: lambda m: encode_ack(m.timestamp, m.status, m.operation, m.requester),
    Nack: _encode_nack,
    BrokerLeaving: lambda m: _encode_plain(m) + (b"|*" if m.passed_on else b""),
    BrokerJoining: _encode_joining,
    PingResponse: lambda m: _encode_plain(m) + f"|Ctx_Broker|{format_address(m.broker)}".encode(),
    NeighborsRequest: _encode_plain,
    NeighborsResponse: lambda m: _encode_plain(m) + write_addresses(m.neighbours).encode(),
    StatsRequest: _encode_plain,
    StatsResponse: _encode_stats,
}
