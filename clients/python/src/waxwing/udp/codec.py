"""Datagrams of the context broker that a client sends and receives (``docs/wire.md``). Pure.

Reading is total: what cannot be read is ``None``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from waxwing.errors import InvalidMessage
from waxwing.payloads import LONGEST_PAYLOAD

Address = tuple[str, int]
LONGEST_DATAGRAM = 65_507
LONGEST_NAME = 255
RECEIVED, PROCESSED = 101, 102
NOT_FOUND = 202
UPDATE, REQUEST, WITHDRAW = "ContextUpdateAdvertisement", "ContextRequest", "Withdraw"

_INTEGER = re.compile(r"0|[1-9][0-9]{0,18}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Response:
    """Message 4, as a client receives it: without hops."""

    timestamp: int
    """When the provider sent the data, Unix ms."""
    provider: str
    type: str
    entity: str
    scope: str
    valid_begin: int
    """Unix ms, as ``valid_end``."""
    valid_end: int
    text: str


@dataclass(frozen=True, slots=True)
class Ack:
    """Message 5, or 6 with ``is_nack``."""

    timestamp: int
    is_nack: bool
    status: int
    operation: str


@dataclass(frozen=True, slots=True)
class Pong:
    """Message 9."""

    timestamp: int
    broker: str
    """``host:port`` of the broker."""


def update(
    timestamp: int, provider: str, key: tuple[str, str, str], begin: int, end: int, payload: bytes, flag: str = "A"
) -> bytes:
    """Message 2. Raises ``InvalidMessage``."""
    if not 1 <= len(payload) <= LONGEST_PAYLOAD:
        raise InvalidMessage(f"the payload has {len(payload):,} bytes; 1 to {LONGEST_PAYLOAD:,} are allowed")
    try:
        payload.decode()
    except UnicodeDecodeError:
        raise InvalidMessage("the payload is not UTF-8") from None
    if not 0 <= begin < end < 10**19:
        raise InvalidMessage(f"the validity from {begin} to {end} is empty, or too long for a message")
    names = "|".join(map(_name, (provider, *key)))
    return _whole(f"2|{timestamp}|{len(payload)}|{flag}|{names}|{begin}|{end}|".encode() + payload)


def request(timestamp: int, key: tuple[str, str, str]) -> bytes:
    """Message 3. Raises ``InvalidMessage``."""
    return _whole(f"3|{timestamp}|{'|'.join(map(_name, key))}".encode())


def ping(timestamp: int) -> bytes:
    """Message 1."""
    return f"1|{timestamp}".encode()


def withdraw(timestamp: int, provider: str, key: tuple[str, str, str], until: int = 0) -> bytes:
    """Message 37; ``until``: the latest end of what is withdrawn, if known (Unix ms). Raises ``InvalidMessage``."""
    return _whole(f"37|{timestamp}|{'|'.join(map(_name, (provider, *key)))}|{until}".encode())


def read(data: bytes) -> Response | Ack | Pong | None:
    """What a broker sent to a client; ``None`` for anything else."""
    try:
        code = data[: data.find(b"|")]
        if code == b"4":
            return _response(data)
        fields = data.decode().split("|")
    except UnicodeDecodeError:
        return None
    if code in (b"5", b"6"):
        return _ack(fields)
    if (
        code == b"9"
        and len(fields) == 4
        and fields[2] == "Ctx_Broker"
        and _address(fields[3])
        and _is_integer(fields[1])
    ):
        return Pong(int(fields[1]), fields[3])
    return None


def address(text: str) -> Address:
    """``host:port``, IPv6 as ``[host]:port``. Raises ``InvalidMessage``."""
    found = _address(text)
    if found is None:
        raise InvalidMessage(f"{text!r} is not an address such as 127.0.0.1:20000 or [::1]:20000")
    return found


def _address(text: str) -> Address | None:
    host, _, port = text.rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    elif ":" in host:
        return None
    return (host, int(port)) if host and _is_integer(port) and 0 < int(port) < 65_536 else None


def _response(data: bytes) -> Response | None:
    """Its payload is taken by its size, so it may contain ``|``."""
    parts = data.split(b"|", 9)
    if len(parts) != 10 or not parts[9]:
        return None
    _, stamp, size, *names, begin, end = (part.decode() for part in parts[:9])
    numbers = (stamp, size, begin, end)
    if not all(map(_is_integer, numbers)) or not all(0 < len(name.encode()) <= LONGEST_NAME for name in names):
        return None
    if len(parts[9]) != int(size) or not 1 <= int(size) <= LONGEST_PAYLOAD or int(begin) >= int(end):
        return None
    provider, kind, entity, scope = names
    return Response(int(stamp), provider, kind, entity, scope, int(begin), int(end), parts[9].decode())


def _ack(fields: list[str]) -> Ack | None:
    code, word = fields[0], "ACK" if fields[0] == "5" else "NACK"
    if len(fields) != 6 or fields[2] != word or not _is_integer(fields[1]):
        return None
    status, operation, by = (fields[3].removeprefix("Status:"), fields[4].removeprefix("Operation "), fields[5])
    if not _is_integer(status) or operation == fields[4] or not by.startswith("Requested by "):
        return None
    return Ack(int(fields[1]), code == "6", int(status), operation)


def _name(text: str) -> str:
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        size = 0
    if not 1 <= size <= LONGEST_NAME or "|" in text:
        raise InvalidMessage(f"{text[:40]!r} is not a name: 1 to {LONGEST_NAME} bytes of UTF-8 without |")
    return text


def _whole(data: bytes) -> bytes:
    if len(data) > LONGEST_DATAGRAM:
        raise InvalidMessage(f"{len(data):,} bytes are more than a datagram holds")
    return data


def _is_integer(text: str) -> bool:
    return _INTEGER.fullmatch(text) is not None
