"""The bytes of packets of a connection, which its keys protect. Big-endian::

    version | type u8, flags u8, cid u64, number u32, ack u32, sack u32, [echo: number u32, held_us u32], body, tag

``ack`` is the next expected sequence; bit i of ``sack``: sequence ack + i has arrived. ``ack`` alone means durable.
"""

from __future__ import annotations

from enum import IntEnum
from struct import Struct
from typing import Final, NamedTuple

from overlay.core.hashes import compare_digest
from overlay.systems.contextnet.transport.layouts import VERSION, Type, refuse, type_of
from overlay.systems.contextnet.transport.secrets import mac

MOST_DATAGRAM: Final = 1_200
MOST_PART: Final = 1_147
"""Bytes of a message in one DATA, so that it fits with an echo and the longer tag."""
MOST_FRAGMENTS: Final = 64
NUMBERS: Final = 1 << 31
"""Packet numbers of a connection; then the node begins another."""
LOW: Final = 0xFFFF_FFFF
"""The bits of a sequence that are on the wire."""

HEAD: Final = Struct(">BBQIII")
_ECHO: Final = Struct(">II")
_DATA: Final = Struct(">IBBB")
_U64: Final = Struct(">Q")


class Flags:
    """Plain integers: an ``IntFlag`` takes ten times as long."""

    BUSY: Final = 1
    ACK_NOW: Final = 2
    PROBE: Final = 4
    """From another address of the node, which is not to become its path."""
    ECHO: Final = 8


class Kind(IntEnum):
    """Of DATA."""

    MESSAGE = 1
    GATEWAY_LIST = 2
    HAND_OVER = 3
    CONTEXT = 4


_KINDS: Final = {int(kind): kind for kind in Kind}


class Close(IntEnum):
    """Why a connection is closed."""

    DONE = 1
    MOVED = 2
    IDLE = 3
    SUPERSEDED = 4
    SHUTTING_DOWN = 5
    PROTOCOL = 6


class Data(NamedTuple):
    sequence: int
    """Modulo 2^32."""
    fragment: int
    fragments: int
    kind: Kind
    part: bytes


class Packet(NamedTuple):
    type: Type
    flags: int
    cid: int
    number: int
    ack: int = 0
    sack: int = 0
    echo: tuple[int, int] | None = None
    """The largest packet number newly received with DATA or PING, and the microseconds since."""
    body: bytes = b""


PROTECTED: Final = frozenset(range(Type.DATA, Type.CLOSE + 1))


def write_packet(packet: Packet, key: bytes, tag_bytes: int) -> bytes:
    kind, flags, cid, number, ack, sack, echo, body = packet
    if echo is not None:
        flags |= Flags.ECHO
        body = _ECHO.pack(*echo) + body
    data = HEAD.pack(VERSION << 4 | kind, flags, cid, number, ack, sack) + body
    return data + mac(key, data, tag_bytes)


def cid_of(data: bytes, tag_bytes: int) -> int:
    """The connection of a protected packet, which may be none. Raises ``BadPacket``."""
    if len(data) < HEAD.size + tag_bytes or len(data) > MOST_DATAGRAM:
        refuse("length", f"a packet has {HEAD.size + tag_bytes} to {MOST_DATAGRAM} bytes, not {len(data)}")
    return int.from_bytes(data[2:10], "big")


def read_packet(data: bytes, key: bytes, tag_bytes: int) -> Packet:
    """Raises ``BadPacket`` and nothing else."""
    kind = type_of(data)
    if kind not in PROTECTED:
        refuse("type", f"{kind.name} is no packet of a connection")
    cid_of(data, tag_bytes)
    end = len(data) - tag_bytes
    if not compare_digest(mac(key, data[:end], tag_bytes), data[end:]):
        refuse("tag", "the tag is wrong")
    _, flags, cid, number, ack, sack = HEAD.unpack_from(data)
    at, echo = HEAD.size, None
    if flags & Flags.ECHO:
        if end < at + _ECHO.size:
            refuse("echo", "the echo is cut off")
        echo = _ECHO.unpack_from(data, at)
        at += _ECHO.size
    return Packet(kind, flags, cid, number, ack, sack, echo, data[at:end])


# ---- bodies

Body = Data | bytes | int | Close | None


def read_body(packet: Packet) -> Body:
    """Of a packet of any type. Raises ``BadPacket``."""
    if packet.type is Type.DATA:
        return read_data(packet.body)
    if packet.type is Type.ACK:
        check_size(packet.body, 0)
        return None
    if packet.type in (Type.PING, Type.PONG):
        return read_u64(packet.body)
    if packet.type is Type.CLOSE:
        return read_close(packet.body)
    return check_size(packet.body, 8)


def write_data(sequence: int, fragment: int, fragments: int, kind: int, part: bytes) -> bytes:
    return _DATA.pack(sequence & LOW, fragment, fragments, kind) + part


def read_data(body: bytes) -> Data:
    if not _DATA.size < len(body) <= _DATA.size + MOST_PART:
        refuse("body", f"DATA has 1 to {MOST_PART:,} bytes of a message, not {len(body) - _DATA.size}")
    sequence, fragment, fragments, kind = _DATA.unpack_from(body)
    if not fragment < fragments <= MOST_FRAGMENTS:
        refuse("body", f"fragment {fragment} of {fragments} is none of at most {MOST_FRAGMENTS}")
    known = _KINDS.get(kind)
    if known is None:
        refuse("body", f"{kind} is no kind of DATA")
    return Data(sequence, fragment, fragments, known, body[_DATA.size :])


def write_u64(value: int) -> bytes:
    """The body of PING and PONG."""
    return _U64.pack(value)


def read_u64(body: bytes) -> int:
    found: int = _U64.unpack(check_size(body, 8))[0]
    return found


def read_close(body: bytes) -> Close:
    reason = check_size(body, 1)[0]
    if reason not in Close.__members__.values():
        refuse("body", f"{reason} is no reason of CLOSE")
    return Close(reason)


def check_size(body: bytes, size: int) -> bytes:
    if len(body) != size:
        refuse("body", f"a body has {size} bytes, not {len(body)}")
    return body
