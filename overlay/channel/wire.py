"""The bytes of a datagram (contract, section 1). Big-endian::

    magic u8 = 0xC5 | kind u8 | room u16 | to u64 | seq u32 | ack u32 | sack u64 | body

``to`` is the receiver's *incarnation*: 64 random bits, not 0, drawn for each session. Records and acknowledgements are
numbered from 1; the wire has the low 32 bits.
"""

from __future__ import annotations

from struct import Struct
from typing import Final

from overlay.core.hashes import blake2s, compare_digest

MAGIC: Final = 0xC5
DATA: Final = 1
ACK: Final = 2
HELLO: Final = 3
WELCOME: Final = 4
RESET: Final = 5
BYE: Final = 6
PROBE: Final = 7
PROBED: Final = 8
LOOSE: Final = 9
HEAD: Final = Struct(">BBHQIIQ")
HEAD_BYTES: Final = 28
HELLO_BYTES: Final = 96
"""Minimum of a HELLO, so that its answer is never three times as long."""
SEAL_BYTES: Final = 16
LOW: Final = 0xFFFF_FFFF
"""The bits of a number that are on the wire."""
HALF: Final = 1 << 31
SACK: Final = (1 << 64) - 1
_U64: Final = Struct(">Q")


def nearest(low: int, to: int) -> int:
    """The number next to ``to`` with these low 32 bits; negative if there was none."""
    return to + ((low - to + HALF) & LOW) - HALF


def head(kind: int, to: int, room: int = 0) -> bytes:
    """A header without acknowledgement."""
    return HEAD.pack(MAGIC, kind, room, to, 0, 0, 0)


def hello(me: int, id: bytes, room: int) -> bytes:
    """Asks for a session, as the incarnation ``me``."""
    return (head(HELLO, 0, room) + _U64.pack(me) + bytes([len(id)]) + id).ljust(HELLO_BYTES, b"\0")


def welcome(to: int, me: int, id: bytes, room: int) -> bytes:
    return head(WELCOME, to, room) + _U64.pack(me) + bytes([len(id)]) + id


def reset(unknown: int) -> bytes:
    return head(RESET, 0) + _U64.pack(unknown)


def loose(id: bytes, message: bytes) -> bytes:
    return head(LOOSE, 0) + bytes([len(id)]) + id + message


def number(value: int) -> bytes:
    """A nonce."""
    return _U64.pack(value)


def read_number(data: bytes) -> int:
    """The first field of a body; the caller has checked that it is there."""
    found: int = _U64.unpack_from(data, HEAD_BYTES)[0]
    return found


def read_id(data: bytes, at: int, end: int) -> bytes:
    """1 to 64 bytes after their length; empty if they are not there."""
    if at >= end:
        return b""
    stop = at + 1 + data[at]
    return data[at + 1 : stop] if stop <= end and data[at] <= 64 else b""


def seal(data: bytes, key: bytes) -> bytes:
    """``data`` and its keyed hash (RFC 7693)."""
    return data + blake2s(data, key=key, digest_size=SEAL_BYTES).digest()


def is_sealed(data: bytes, key: bytes) -> bool:
    end = len(data) - SEAL_BYTES
    return compare_digest(blake2s(data[:end], key=key, digest_size=SEAL_BYTES).digest(), data[end:])
