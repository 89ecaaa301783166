"""One field or one tail: read strictly, written plainly. ``codec`` puts messages together from these.

Readers raise ``WireError`` (or ``UnicodeDecodeError``, which ``codec.parse`` turns into it) and nothing else. Writers
raise ``WireError`` where a value from outside (a name, a payload) does not fit.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from typing import Any

from overlay.core.addresses import Address, format_address, parse_address, parse_host, parse_port
from overlay.core.errors import WireError
from overlay.systems.context_broker.wire.feed_messages import Change, FeedRecord
from overlay.systems.context_broker.wire.kinds import (
    FORMATS,
    MAX_DIGITS,
    MAX_NAME,
    MAX_PAYLOAD,
    MAX_TTL,
    TARGET_DIGITS,
    Kind,
    Tail,
)
from overlay.systems.context_broker.wire.messages import Hops, Status
from overlay.systems.context_broker.wire.table import OPERATIONS, UNKNOWN

ACKS: Mapping[str, Status] = {str(int(status)): status for status in Status if status < 200}
NACKS: Mapping[str, Status] = {str(int(status)): status for status in Status if status >= 200}
OPERATION_NAMES = (*OPERATIONS.values(), UNKNOWN)
FLAGS = ("A", "U")
CHANGES: Mapping[str, Change] = {str(change): change for change in Change}

_OPERATIONS = frozenset(OPERATION_NAMES)
_BAR = ord("|")
_LONGEST_HEAD = 2 * MAX_DIGITS + 8
"""Bytes before the message of a record, and one more."""


# ---- reading


def read_integer(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > MAX_DIGITS or (text[0] == "0" and text != "0"):
        raise WireError(f"{text[:30]!r} is not an integer of at most {MAX_DIGITS} digits")
    return int(text)


def check_name(text: str) -> str:
    if not text or "|" in text or (len(text) > MAX_NAME // 4 and len(text.encode()) > MAX_NAME):
        raise WireError(f"{text[:60]!r} is not a name of 1 to {MAX_NAME} bytes without '|'")
    return text


read_address = lru_cache(maxsize=4096)(parse_address)
"""Messages name the same brokers again and again."""


def _ttl(text: str) -> int:
    ttl = read_integer(text)
    if not 1 <= ttl <= MAX_TTL:
        raise WireError(f"a TTL is from 1 to {MAX_TTL}, not {ttl}")
    return ttl


def _size(text: str) -> int:
    return _checked_size(read_integer(text))


def _checked_size(size: int) -> int:
    if not 1 <= size <= MAX_PAYLOAD:
        raise WireError(f"a payload has 1 to {MAX_PAYLOAD} bytes, not {size}")
    return size


def _flag(text: str) -> str:
    if text not in FLAGS:
        raise WireError(f"{text[:10]!r} is not the flag A or U")
    return text


def _change(text: str) -> str:
    if text not in CHANGES:
        raise WireError(f"{text[:10]!r} is not one of {', '.join(CHANGES)}")
    return text


def _status(kind: Kind, statuses: Mapping[str, Status]) -> Callable[[str], int]:
    prefix = FORMATS[kind].prefix
    known = {prefix + text: int(status) for text, status in statuses.items()}

    def read(text: str) -> int:
        if text not in known:
            raise WireError(f"must be {prefix} and one of {', '.join(statuses)}, not {text[:40]!r}")
        return known[text]

    return read


def _operation(text: str) -> str:
    name = _behind(text, FORMATS[Kind.OPERATION].prefix)
    if name not in _OPERATIONS:
        raise WireError(f"{text[:60]!r} is not the name of an operation")
    return name


def _requester(text: str) -> Address:
    return read_address(_behind(text, FORMATS[Kind.REQUESTER].prefix))


def _behind(text: str, prefix: str) -> str:
    if not text.startswith(prefix):
        raise WireError(f"must begin with {prefix.strip()!r}, not {text[:40]!r}")
    return text[len(prefix) :]


def _target(text: str) -> str:
    if len(text) != TARGET_DIGITS or text.strip("0123456789abcdef"):
        raise WireError(f"{text[:60]!r} is not an identifier of {TARGET_DIGITS} hexadecimal digits")
    return text


def _counters(text: str) -> dict[str, int]:
    counters = {}
    for pair in text.split(";"):
        name, equals, value = pair.partition("=")
        if not name or not equals or name in counters:
            raise WireError(f"{pair[:60]!r} is not one name=value")
        counters[name] = read_integer(value)
    return counters


def _star(text: str) -> bool:
    if text != "*":
        raise WireError(f"must be *, not {text[:40]!r}")
    return True


READERS: Mapping[Kind, Callable[[str], Any]] = {
    Kind.TIME: read_integer,
    Kind.INTEGER: read_integer,
    Kind.TTL: _ttl,
    Kind.SIZE: _size,
    Kind.FLAG: _flag,
    Kind.NAME: check_name,
    Kind.ACK_STATUS: _status(Kind.ACK_STATUS, ACKS),
    Kind.NACK_STATUS: _status(Kind.NACK_STATUS, NACKS),
    Kind.OPERATION: _operation,
    Kind.REQUESTER: _requester,
    Kind.ADDRESS: read_address,
    Kind.HOST: parse_host,
    Kind.PORT: parse_port,
    Kind.STAR: _star,
    Kind.TARGET: _target,
    Kind.COUNTERS: _counters,
    Kind.CHANGE: _change,
}
"""The value of a field's text."""


def read_payload(size: int, rest: bytes) -> tuple[bytes, bytes]:
    """The payload and what follows it."""
    if size > len(rest):
        raise WireError(f"a payload of {size} bytes is not there")
    payload = rest[:size]
    payload.decode()
    return payload, rest[size:]


# ---- what may follow


@lru_cache(maxsize=4096)
def _hop(host: str, port: str) -> Address:
    return parse_host(host), parse_port(port)


def read_hops(fields: list[str]) -> Hops:
    if len(fields) % 2:
        raise WireError("a hop is two fields, host and port")
    return tuple(map(_hop, fields[::2], fields[1::2]))


def _marked_hops(fields: list[str]) -> tuple[Hops, frozenset[int]]:
    """``host|port`` pairs, each followed by ``*`` or not."""
    plain: list[str] = []
    marks = set()
    for field in fields:
        position = len(plain) // 2 - 1
        if field == "*" and len(plain) % 2 == 0 and position >= 0 and position not in marks:
            marks.add(position)
        else:
            plain.append(field)
    return read_hops(plain), frozenset(marks)


def _one_star(fields: list[str]) -> tuple[bool]:
    if fields not in ([], ["*"]):
        raise WireError("only * may follow")
    return (bool(fields),)


def _addresses_star(fields: list[str]) -> tuple[tuple[Address, ...], bool]:
    is_marked = fields[-1:] == ["*"]
    if is_marked:
        fields = fields[:-1]
    if not fields:
        raise WireError("an address is missing")
    return tuple(map(read_address, fields)), is_marked


def _records(fields: list[str]) -> tuple[tuple[FeedRecord, ...]]:
    """``number|change|size|message`` each; a message has any number of fields, and is delimited by its size."""
    data, at, records = "|".join(fields).encode(), 0, []
    while fields:
        number, change, size, *rest = *data[at : at + _LONGEST_HEAD].split(b"|", 3), b"", b""
        if len(rest) < 3:
            raise WireError("a record is number, change, size and message")
        begin = at + len(number) + len(change) + len(size) + 3
        end = begin + read_integer(size.decode())
        if begin == end or end > len(data):
            raise WireError("the message of a record is not there")
        records.append(FeedRecord(read_integer(number.decode()), _change(change.decode()), data[begin:end]))
        if end == len(data):
            break
        if data[end] != _BAR:
            raise WireError("the message of a record is longer than its size")
        at = end + 1
    return (tuple(records),)


TAIL_READERS: Mapping[Tail, Callable[[list[str]], tuple[Any, ...]]] = {
    Tail.HOPS: lambda fields: (read_hops(fields),),
    Tail.MARKED_HOPS: _marked_hops,
    Tail.ADDRESSES: lambda fields: (tuple(map(read_address, fields)),),
    Tail.STAR: _one_star,
    Tail.ADDRESSES_STAR: _addresses_star,
    Tail.RECORDS: _records,
}
"""The values of the fields behind those that every message of a code has."""


# ---- writing

WRITERS: Mapping[Kind, Callable[[Any], Any]] = {
    Kind.SIZE: lambda payload: _checked_size(len(payload)),
    Kind.NAME: check_name,
    Kind.REQUESTER: format_address,
    Kind.ADDRESS: format_address,
    Kind.COUNTERS: lambda counters: ";".join(f"{name}={value}" for name, value in counters.items()),
}
"""What a value is written as; the others as they are."""


def write_hops(hops: Hops) -> str:
    return "".join(f"|{host}|{port}" for host, port in hops)


def write_marked_hops(hops: Hops, marks: Collection[int] = ()) -> str:
    return "".join(
        f"|{host}|{port}|*" if position in marks else f"|{host}|{port}" for position, (host, port) in enumerate(hops)
    )


def _write_star(is_there: bool) -> str:
    return "|*" if is_there else ""


def _write_addresses(addresses: tuple[Address, ...], is_marked: bool = False) -> str:
    return "".join(f"|{format_address(address)}" for address in addresses) + _write_star(is_marked)


def _write_records(records: tuple[FeedRecord, ...]) -> str:
    return "".join(f"|{one.number}|{one.change}|{len(one.message)}|{one.message.decode()}" for one in records)


TAIL_WRITERS: Mapping[Tail, Callable[..., str]] = {
    Tail.HOPS: write_hops,
    Tail.MARKED_HOPS: write_marked_hops,
    Tail.ADDRESSES: _write_addresses,
    Tail.STAR: _write_star,
    Tail.ADDRESSES_STAR: _write_addresses,
    Tail.RECORDS: _write_records,
}
