"""The fields that messages are made of: read strictly, written plainly. ``wire`` and ``extensions`` share them.

Readers raise ``WireError`` (or ``UnicodeDecodeError``, which ``wire.parse`` turns into it) and nothing else.
"""

from __future__ import annotations

from functools import lru_cache

from overlay.core.addresses import Address, format_address, parse_host, parse_port
from overlay.core.errors import WireError
from overlay.systems.context_broker.broker.messages import Hops, Key

MAX_DATAGRAM = 65_507
"""Bytes: what one UDP datagram over IPv4 carries."""
MAX_PAYLOAD = 60_000
"""Bytes."""
MAX_NAME = 255
"""Bytes of a provider, type, id or scope."""
MAX_DIGITS = 19


def read_integer(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or len(text) > MAX_DIGITS or (text[0] == "0" and text != "0"):
        raise WireError(f"{text[:30]!r} is not an integer of at most {MAX_DIGITS} digits")
    return int(text)


def check_name(text: str) -> str:
    if not text or "|" in text or (len(text) > MAX_NAME // 4 and len(text.encode()) > MAX_NAME):
        raise WireError(f"{text[:60]!r} is not a name of 1 to {MAX_NAME} bytes without '|'")
    return text


def check_key(entity_type: str, entity_id: str, scope: str) -> Key:
    return check_name(entity_type), check_name(entity_id), check_name(scope)


@lru_cache(maxsize=4096)
def _hop(host: str, port: str) -> Address:
    return parse_host(host), parse_port(port)


def read_hops(fields: list[str]) -> Hops:
    if len(fields) % 2:
        raise WireError("a hop is two fields, host and port")
    return tuple(map(_hop, fields[::2], fields[1::2]))


def read_marked_hops(fields: list[str]) -> tuple[Hops, frozenset[int]]:
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


def split_fields(data: bytes, least: int, most: int | None = None) -> list[str]:
    """All fields behind the code."""
    fields = data.decode().split("|")[1:]
    if len(fields) < least or (most is not None and len(fields) > most):
        raise WireError("a field is missing or surplus")
    return fields


def read_payload(size_field: str, rest: bytes) -> tuple[bytes, bytes]:
    """The payload and what follows it."""
    size = read_integer(size_field)
    if not 1 <= size <= MAX_PAYLOAD or size > len(rest):
        raise WireError(f"a payload of {size} bytes is not there")
    payload = rest[:size]
    payload.decode()
    return payload, rest[size:]


def read_asked(data: bytes) -> tuple[int, str, str, str, Hops]:
    """The fields of a request behind its code."""
    stamp, entity_type, entity_id, scope, *hops = split_fields(data, 4)
    return read_integer(stamp), *check_key(entity_type, entity_id, scope), read_hops(hops)


def read_validity(begin: str, end: str) -> tuple[int, int]:
    valid_begin, valid_end = read_integer(begin), read_integer(end)
    if valid_begin >= valid_end:
        raise WireError("ValidBegin is not before ValidEnd")
    return valid_begin, valid_end


def read_content(data: bytes) -> tuple[tuple[int, str, str, str, str, int, int, bytes], bytes]:
    """The fields of a Response or a record behind its code, and what follows its payload."""
    parts = data.split(b"|", 9)
    if len(parts) != 10:
        raise WireError("a field is missing")
    stamp, size, provider, entity_type, entity_id, scope, begin, end = (part.decode() for part in parts[1:9])
    payload, rest = read_payload(size, parts[9])
    names = check_name(provider), *check_key(entity_type, entity_id, scope)
    return (read_integer(stamp), *names, *read_validity(begin, end), payload), rest


def write_hops(hops: Hops) -> str:
    return "".join(f"|{host}|{port}" for host, port in hops)


def write_addresses(addresses: tuple[Address, ...]) -> str:
    return "".join(f"|{format_address(address)}" for address in addresses)
