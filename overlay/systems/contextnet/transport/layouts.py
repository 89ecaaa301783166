"""The bytes of the handshake, which no key of a connection protects. Big-endian; the first byte is ``0x10 | type``.

Writers leave the last 16 bytes, the proof, to ``secrets.proof``; readers do not look at it. ``read_*`` raise
``BadPacket`` and nothing else.
"""

from __future__ import annotations

from enum import IntEnum, IntFlag
from functools import lru_cache
from ipaddress import ip_address
from struct import Struct
from typing import Final, NamedTuple, NoReturn

from overlay.core.addresses import Address
from overlay.core.errors import WireError

VERSION: Final = 1
NODE_BYTES = NONCE_BYTES = PROOF_BYTES = 16
COOKIE_BYTES: Final = 20
HELLO_BYTES, RETRY_BYTES, RESET_BYTES = 256, 37, 25
MOST_ADDRESSES: Final = 32
"""In ACCEPT, so that it fits into a datagram; a REFUSE has at most as many."""

_HELLO = Struct(">B16sI16sQB")
_ACCEPT = Struct(">BQ16s16sBIHHBHI16s20s")
_REFUSE = Struct(">B16sBHI")
_U16 = Struct(">H")
_WANTS: Final = HELLO_BYTES - PROOF_BYTES


class Type(IntEnum):
    """Of a datagram: the lower half of its first byte."""

    HELLO = 1
    RETRY = 2
    ACCEPT = 3
    REFUSE = 4
    DATA = 5
    ACK = 6
    PING = 7
    PONG = 8
    PATH_CHALLENGE = 9
    PATH_RESPONSE = 10
    CLOSE = 11
    RESET = 12


_TYPES: Final = {int(kind): kind for kind in Type}


class Wants(IntFlag):
    RESUME = 1
    LONG_TAG = 2
    """Tags of 16 bytes."""
    ORDERED = 4
    """Reserved: DATA is always delivered in order."""


class Refusal(IntEnum):
    SECRET = 1
    FULL = 2
    BUSY = 3
    VERSION = 4
    EPOCH = 5


class BadPacket(WireError):
    """A datagram that is dropped. ``reason`` is the word under which it is counted."""

    def __init__(self, reason: str, sentence: str) -> None:
        super().__init__(sentence)
        self.reason = reason


def refuse(reason: str, sentence: str) -> NoReturn:
    raise BadPacket(reason, sentence)


class Hello(NamedTuple):
    node: bytes
    epoch: int
    nonce: bytes
    resume_cid: int = 0
    """0: none."""
    cookie: bytes = b""
    """Empty, or 20 bytes."""
    wants: int = 0


class Retry(NamedTuple):
    nonce: bytes
    cookie: bytes


class Accept(NamedTuple):
    cid: int
    server_nonce: bytes
    client_nonce: bytes
    resumed: bool
    expected: int
    """The sequence that the gateway expects next, modulo 2^32."""
    idle_s: int
    ack_delay_ms: int
    window: int
    rto_min_ms: int
    max_message: int
    """Bytes of a payload."""
    reset_token: bytes
    next_cookie: bytes
    gateways: tuple[Address, ...] = ()


class Refuse(NamedTuple):
    nonce: bytes
    code: Refusal
    retry_after_s: int = 0
    epoch: int = 0
    """The highest known, with ``Refusal.EPOCH``."""
    gateways: tuple[Address, ...] = ()


class Reset(NamedTuple):
    cid: int
    token: bytes


# ---- addresses


@lru_cache(maxsize=4096)
def pack_address(address: Address) -> bytes:
    """``u8`` 4 or 6, 4 or 16 bytes, ``u16`` port."""
    host = ip_address(address[0])
    return bytes([host.version]) + host.packed + _U16.pack(address[1])


def pack_addresses(addresses: tuple[Address, ...]) -> bytes:
    """After their number, one byte. At most ``MOST_ADDRESSES``, the first ones."""
    some = addresses[:MOST_ADDRESSES]
    return bytes([len(some)]) + b"".join(map(pack_address, some))


def read_address(data: bytes, at: int, end: int) -> tuple[Address, int]:
    """An address before ``end``, and the place after it."""
    size = {4: 4, 6: 16}.get(data[at]) if at < end else None
    if size is None or at + size + 3 > end:
        refuse("address", "an address is cut off, or neither of IPv4 nor of IPv6")
    port = _U16.unpack_from(data, at + 1 + size)[0]
    if not port:
        refuse("address", "an address has port 0")
    return (str(ip_address(data[at + 1 : at + 1 + size])), port), at + size + 3


def read_addresses(data: bytes, at: int, end: int) -> tuple[Address, ...]:
    """After their number, exactly to ``end``."""
    if at >= end:
        refuse("length", f"{len(data)} bytes are too few")
    count, found = data[at], []
    at += 1
    for _ in range(count):
        address, at = read_address(data, at, end)
        found.append(address)
    if at != end:
        refuse("length", f"{end - at} bytes follow the addresses")
    return tuple(found)


# ---- writers


def _first(kind: Type) -> int:
    return VERSION << 4 | kind


def write_hello(hello: Hello) -> bytes:
    """240 bytes, to be proven."""
    node, epoch, nonce, resume_cid, cookie, wants = hello
    head = _HELLO.pack(_first(Type.HELLO), node, epoch, nonce, resume_cid, len(cookie))
    return (head + cookie + _U16.pack(wants)).ljust(_WANTS, b"\0")


def write_retry(retry: Retry) -> bytes:
    return bytes([_first(Type.RETRY)]) + retry.nonce + retry.cookie


def write_accept(accept: Accept) -> bytes:
    """To be proven."""
    return _ACCEPT.pack(_first(Type.ACCEPT), *accept[:-1]) + pack_addresses(accept.gateways)


def write_refuse(refusal: Refuse) -> bytes:
    """To be proven, or to be followed by zeros."""
    return _REFUSE.pack(_first(Type.REFUSE), *refusal[:-1]) + pack_addresses(refusal.gateways)


def write_reset(reset: Reset) -> bytes:
    return bytes([_first(Type.RESET)]) + reset.cid.to_bytes(8, "big") + reset.token


# ---- readers


def type_of(data: bytes) -> Type:
    """Of any datagram."""
    if not data:
        refuse("length", "an empty datagram")
    if data[0] >> 4 != VERSION:
        refuse("version", f"version {data[0] >> 4} is not {VERSION}")
    kind = _TYPES.get(data[0] & 15)
    if kind is None:
        refuse("type", f"{data[0] & 15} is no type of a datagram")
    return kind


def read_hello(data: bytes) -> Hello:
    _check_length(data, HELLO_BYTES, "HELLO")
    _, node, epoch, nonce, resume_cid, size = _HELLO.unpack_from(data)
    if size not in (0, COOKIE_BYTES):
        refuse("cookie", f"a cookie has {size} bytes, not 0 or {COOKIE_BYTES}")
    at = _HELLO.size + size
    if any(data[at + 2 : _WANTS]):
        refuse("padding", "the padding of a HELLO is not zero")
    return Hello(node, epoch, nonce, resume_cid, data[_HELLO.size : at], _U16.unpack_from(data, at)[0])


def read_retry(data: bytes) -> Retry:
    _check_length(data, RETRY_BYTES, "RETRY")
    return Retry(data[1:17], data[17:])


def read_accept(data: bytes) -> Accept:
    end = len(data) - PROOF_BYTES
    if end < _ACCEPT.size:
        refuse("length", f"an ACCEPT of {len(data)} bytes is too short")
    _, cid, server_nonce, client_nonce, resumed, *rest = _ACCEPT.unpack_from(data)
    if resumed > 1:
        refuse("resumed", f"an ACCEPT is resumed (1) or not (0), not {resumed}")
    gateways = read_addresses(data, _ACCEPT.size, end)
    found = Accept._make((cid, server_nonce, client_nonce, bool(resumed), *rest, gateways))
    if not 1 <= found.window <= 32 or not found.idle_s or not found.rto_min_ms:
        refuse("range", "an ACCEPT has a window outside 1 to 32, or a time of 0")
    return found


def read_refuse(data: bytes) -> Refuse:
    end = len(data) - PROOF_BYTES
    if end < _REFUSE.size:
        refuse("length", f"a REFUSE of {len(data)} bytes is too short")
    _, nonce, code, retry_after_s, epoch = _REFUSE.unpack_from(data)
    if code not in Refusal.__members__.values():
        refuse("range", f"{code} is no reason of a REFUSE")
    return Refuse(nonce, Refusal(code), retry_after_s, epoch, read_addresses(data, _REFUSE.size, end))


def read_reset(data: bytes) -> Reset:
    _check_length(data, RESET_BYTES, "RESET")
    return Reset(int.from_bytes(data[1:9], "big"), data[9:])


def _check_length(data: bytes, length: int, name: str) -> None:
    if len(data) != length:
        refuse("length", f"a {name} has {length} bytes, not {len(data)}")
