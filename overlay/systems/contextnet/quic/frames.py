"""The bytes of frames on stream 0 of a QUIC connection. Big-endian::

    type u8, length u16, body

The types are those of Tether, and so are the bodies of DATA, PING, PONG and CLOSE; ``read_*`` raise ``BadPacket`` and
nothing else. A proof is MAC(secret of the node, "quic1 " ‖ "hello", "accept" or "refuse" ‖ SHA-256 of the gateway's
certificate ‖ nonce ‖ body before it, 16).

| type | body |
|---|---|
| HELLO | node[16] epoch u32 nonce[16] resume_cid u64 wants u16 proof[16] |
| ACCEPT | cid u64, resumed u8, expected u32, window u8, reset_token[16] proof[16] |
| REFUSE | code u8, retry_after_s u16, epoch u32, k u8, k × address, proof[16], zeros for an unknown node |
| ACK | ack u32: the next expected sequence, as Tether's (durable); flags u8: 1 busy |
"""

from __future__ import annotations

from struct import Struct
from typing import Final, NamedTuple

from overlay.core.hashes import compare_digest
from overlay.systems.contextnet.transport import packets
from overlay.systems.contextnet.transport.layouts import (
    PROOF_BYTES,
    Refusal,
    Refuse,
    Type,
    pack_addresses,
    read_addresses,
    refuse,
)
from overlay.systems.contextnet.transport.secrets import mac

MOST_BODY: Final = 7 + packets.MOST_PART
"""Bytes: a DATA, the longest. A REFUSE with 32 addresses of IPv6 has 632."""
KNOWN: Final = frozenset((Type.HELLO, Type.ACCEPT, Type.REFUSE, Type.DATA, Type.ACK, Type.PING, Type.PONG, Type.CLOSE))
BUSY: Final = 1

_HEAD: Final = Struct(">BH")
_HELLO: Final = Struct(">16sI16sQH")
_ACCEPT: Final = Struct(">QBIB16s")
_REFUSE: Final = Struct(">BHI")
_ACK: Final = Struct(">IB")
_TYPES: Final = {int(kind): kind for kind in KNOWN}


class Frame(NamedTuple):
    type: Type
    body: bytes


class Hello(NamedTuple):
    node: bytes
    epoch: int
    nonce: bytes
    resume_cid: int
    wants: int


class Accept(NamedTuple):
    cid: int
    resumed: bool
    expected: int
    """The sequence that the gateway expects next, modulo 2^32."""
    window: int
    reset_token: bytes


def write(kind: Type, body: bytes = b"") -> bytes:
    return _HEAD.pack(kind, len(body)) + body


class Parser:
    """Cuts what arrives into frames."""

    __slots__ = ("_rest",)

    def __init__(self) -> None:
        self._rest = b""
        """The beginning of a frame, shorter than it."""

    def feed(self, data: bytes) -> list[Frame]:
        """The frames that are complete now. Raises ``BadPacket`` at the first header that no frame has."""
        data, at, found = self._rest + data, 0, list[Frame]()
        while len(data) - at >= _HEAD.size:
            number, length = _HEAD.unpack_from(data, at)
            kind = _TYPES.get(number)
            if kind is None:
                refuse("type", f"{number} is no type of a frame")
            if length > MOST_BODY:
                refuse("length", f"a frame has at most {MOST_BODY:,} bytes, not {length:,}")
            end = at + _HEAD.size + length
            if end > len(data):
                break
            found.append(Frame(kind, data[at + _HEAD.size : end]))
            at = end
        self._rest = data[at:]
        return found


# ---- proofs


def proof(secret: bytes, label: bytes, digest: bytes, nonce: bytes, body: bytes) -> bytes:
    """``digest``: SHA-256 of the certificate; ``nonce``: of the HELLO; ``body``: all before the proof."""
    return mac(secret, b"quic1 " + label + digest + nonce + body)


def is_proven(secret: bytes, label: bytes, digest: bytes, nonce: bytes, body: bytes) -> bool:
    """``body`` with its proof."""
    known = proof(secret, label, digest, nonce, body[:-PROOF_BYTES])
    return compare_digest(known, body[-PROOF_BYTES:])


# ---- bodies; writers leave out the proof, readers do not look at it


def write_hello(hello: Hello) -> bytes:
    return _HELLO.pack(*hello)


def read_hello(body: bytes) -> Hello:
    packets.check_size(body, _HELLO.size + PROOF_BYTES)
    return Hello._make(_HELLO.unpack_from(body))


def write_accept(accept: Accept) -> bytes:
    return _ACCEPT.pack(*accept)


def read_accept(body: bytes) -> Accept:
    packets.check_size(body, _ACCEPT.size + PROOF_BYTES)
    cid, resumed, expected, window, token = _ACCEPT.unpack_from(body)
    if resumed > 1 or not 1 <= window <= 32:
        refuse("range", "an ACCEPT is resumed (1) or not (0), with a window of 1 to 32")
    return Accept(cid, bool(resumed), expected, window, token)


def write_refuse(refusal: Refuse) -> bytes:
    return _REFUSE.pack(refusal.code, refusal.retry_after_s, refusal.epoch) + pack_addresses(refusal.gateways)


def read_refuse(body: bytes) -> Refuse:
    end = len(body) - PROOF_BYTES
    if end < _REFUSE.size:
        refuse("length", f"a REFUSE of {len(body)} bytes is too short")
    code, retry_after_s, epoch = _REFUSE.unpack_from(body)
    if code not in Refusal.__members__.values():
        refuse("range", f"{code} is no reason of a REFUSE")
    return Refuse(b"", Refusal(code), retry_after_s, epoch, read_addresses(body, _REFUSE.size, end))


def write_ack(ack: int, is_busy: bool) -> bytes:
    return _ACK.pack(ack & packets.LOW, BUSY if is_busy else 0)


def read_ack(body: bytes) -> tuple[int, bool]:
    """The acknowledgement modulo 2^32, and whether the peer is busy."""
    ack, flags = _ACK.unpack(packets.check_size(body, _ACK.size))
    return ack, bool(flags & BUSY)
