"""The datagrams of the transport, field by field: what pages, forms, documentation and the dissector are made of. Pure.

Counterparts: ``overlay.systems.contextnet.transport.layouts`` and ``packets`` read and write them; a test compares.
Integers are big-endian. The first byte of each is ``0x10 | type``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from overlay.systems.contextnet.transport.layouts import (
    COOKIE_BYTES,
    HELLO_BYTES,
    NODE_BYTES,
    NONCE_BYTES,
    PROOF_BYTES,
    VERSION,
    Refusal,
    Type,
)
from overlay.systems.contextnet.transport.packets import Close, Kind

TAG_BYTES: Final = 8
"""Of a packet by default; setting ``tag_bytes`` may be 16."""
ECHO: Final = "echo"
"""The part of a packet that is there with flag 8."""


class Shape(StrEnum):
    U8 = "unsigned, 1 byte"
    U16 = "unsigned, 2 bytes"
    U32 = "unsigned, 4 bytes"
    U64 = "unsigned, 8 bytes"
    BYTES = "bytes"
    COOKIE = "length (1 byte): 0 or 20; the cookie"
    ADDRESSES = "number (1 byte); each: 4 or 6 (1 byte), 4 or 16 bytes, port (2 bytes)"
    PADDING = "zeros"
    REST = "bytes up to the tag"
    PROOF = "bytes, keyed"


SIZES: Final = {Shape.U8: 1, Shape.U16: 2, Shape.U32: 4, Shape.U64: 8}
"""Bytes of a number."""


@dataclass(frozen=True, slots=True)
class Field:
    name: str
    shape: Shape
    meaning: str
    """One sentence."""
    size: int = 0
    """Bytes of ``BYTES`` and ``PROOF``."""
    words: Mapping[int, str] = field(default_factory=dict)
    """The meaning of values."""
    is_closed: bool = False
    """Whether ``words`` has all values that are permitted."""
    unit: str = ""
    example: str = ""
    """What a form begins with."""
    only_with: str = ""
    """``ECHO``: with the flag of this name."""


@dataclass(frozen=True, slots=True)
class Frame:
    code: int
    name: str
    way: str
    purpose: str
    fields: tuple[Field, ...]
    """Behind the first byte."""
    changes: str = ""
    """What sending it does to a network."""

    @property
    def short(self) -> str:
        return self.name

    @property
    def is_protected(self) -> bool:
        """Whether a key of its connection protects it."""
        return Type.DATA <= self.code <= Type.CLOSE


FLAGS: Final = {1: "BUSY", 2: "ACK_NOW", 4: "PROBE", 8: "ECHO"}
WANTS: Final = {1: "resume", 2: "tags of 16 bytes", 4: "reserved"}
REFUSALS: Final = {one.value: one.name.lower() for one in Refusal}
CLOSES: Final = {one.value: one.name.lower().replace("_", " ") for one in Close}
KINDS: Final = {one.value: one.name.lower().replace("_", " ") for one in Kind}
_BOTH = "node ↔ gateway"
_CID = Field("cid", Shape.U64, "Id of the connection.", example="281474976710657")
_NODE_NONCE = Field("nonce", Shape.BYTES, "Drawn by the node for this HELLO.", NONCE_BYTES, example="11" * NONCE_BYTES)
_GATEWAYS = Field("gateways", Shape.ADDRESSES, "Other gateways to try.", example="")
_PROOF = Field("proof", Shape.PROOF, "Keyed BLAKE2s over all before, with the secret of the node.", PROOF_BYTES)
_HEAD: tuple[Field, ...] = (
    Field("flags", Shape.U8, "Sum of 1 BUSY, 2 ACK_NOW, 4 PROBE, 8 ECHO.", example="0"),
    _CID,
    Field("number", Shape.U32, "Of this packet; rises with every transmission, repeats included.", example="1"),
    Field("ack", Shape.U32, "The next expected sequence. Alone means durable.", example="0"),
    Field("sack", Shape.U32, "Bit i: sequence ack + i has arrived.", example="0"),
    Field(
        "echo",
        Shape.U32,
        "The largest packet number newly received with DATA or PING.",
        only_with=ECHO,
        example="1",
    ),
    Field("held_us", Shape.U32, "For how long it was held.", unit="µs", only_with=ECHO, example="100"),
)
_TAG = Field("tag", Shape.PROOF, "Keyed BLAKE2s over all before, with the key of this direction.", TAG_BYTES)


def _packet(code: Type, way: str, purpose: str, *body: Field, changes: str = "") -> Frame:
    return Frame(code, code.name, way, purpose, (*_HEAD, *body, _TAG), changes)


_PATH = Field("data", Shape.BYTES, "Drawn by the sender, and returned as it is.", 8, example="0102030405060708")
_VALUE = Field("value", Shape.U64, "Returned by PONG; 0 of a keep-alive.", example="1")
FRAMES: Final = (
    Frame(
        Type.HELLO,
        "HELLO",
        "node → gateway",
        f"A node asks for a connection. Padded to {HELLO_BYTES} bytes, so that no answer is longer.",
        (
            Field("node", Shape.BYTES, "Id of the node.", NODE_BYTES, example="00" * 15 + "07"),
            Field("epoch", Shape.U32, "Raised by the node with every new nonce.", example="1"),
            _NODE_NONCE,
            Field("resume_cid", Shape.U64, "The connection to resume; 0: none.", example="0"),
            Field("cookie", Shape.COOKIE, "From RETRY or an earlier ACCEPT.", COOKIE_BYTES, example=""),
            Field("wants", Shape.U16, "Sum of 1 resume, 2 tags of 16 bytes, 4 reserved.", example="1"),
            Field("padding", Shape.PADDING, "Up to the proof."),
            _PROOF,
        ),
        "Opens a connection of this node, and ends a former one.",
    ),
    Frame(
        Type.RETRY,
        "RETRY",
        "gateway → node",
        "A cookie that proves the node's address. The gateway keeps nothing.",
        (
            _NODE_NONCE,
            Field("cookie", Shape.BYTES, "Good for 10 s.", COOKIE_BYTES, example="22" * COOKIE_BYTES),
        ),
    ),
    Frame(
        Type.ACCEPT,
        "ACCEPT",
        "gateway → node",
        "The connection and its terms.",
        (
            _CID,
            Field("server_nonce", Shape.BYTES, "Drawn by the gateway.", NONCE_BYTES, example="33" * NONCE_BYTES),
            Field("client_nonce", Shape.BYTES, "That of the HELLO.", NONCE_BYTES, example="11" * NONCE_BYTES),
            Field(
                "resumed",
                Shape.U8,
                "Whether the former stream goes on.",
                words={0: "no", 1: "yes"},
                is_closed=True,
                example="0",
            ),
            Field("expected", Shape.U32, "The sequence that the gateway expects next.", example="0"),
            Field(
                "idle_s", Shape.U16, "Without a packet for so long, the connection is broken.", unit="s", example="90"
            ),
            Field("ack_delay_ms", Shape.U16, "An acknowledgement comes within this time.", unit="ms", example="25"),
            Field("window", Shape.U8, "DATA without an acknowledgement, 1 to 32.", example="32"),
            Field("rto_min_ms", Shape.U16, "The shortest time until a repeat.", unit="ms", example="200"),
            Field("max_message", Shape.U32, "The longest payload.", unit="bytes", example="60000"),
            Field("reset_token", Shape.BYTES, "By which the node knows a RESET.", 16, example="44" * 16),
            Field(
                "next_cookie",
                Shape.BYTES,
                "For the next HELLO, within 24 h.",
                COOKIE_BYTES,
                example="55" * COOKIE_BYTES,
            ),
            _GATEWAYS,
            _PROOF,
        ),
    ),
    Frame(
        Type.REFUSE,
        "REFUSE",
        "gateway → node",
        "Why there is no connection, and where to try. Without a known node, its proof is zeros.",
        (
            Field("nonce", Shape.BYTES, "That of the HELLO.", NONCE_BYTES, example="11" * NONCE_BYTES),
            Field("code", Shape.U8, "Why.", words=REFUSALS, is_closed=True, example="2"),
            Field("retry_after_s", Shape.U16, "Not to try again before.", unit="s", example="1"),
            Field("epoch", Shape.U32, "With code 5: the epoch to exceed.", example="0"),
            _GATEWAYS,
            _PROOF,
        ),
    ),
    _packet(
        Type.DATA,
        _BOTH,
        "A message, or a part of one.",
        Field("sequence", Shape.U32, "Of this DATA in its direction.", example="0"),
        Field("fragment", Shape.U8, "From 0.", example="0"),
        Field("fragments", Shape.U8, "Of the message, 1 to 64.", example="1"),
        Field("kind", Shape.U8, "What it is.", words=KINDS, is_closed=True, example="4"),
        Field("part", Shape.REST, "The message, or this part of it.", example="0x81a17801"),
        changes="With the key of an open connection, it delivers a message.",
    ),
    _packet(Type.ACK, _BOTH, "An acknowledgement without DATA."),
    _packet(Type.PING, _BOTH, "Asks for a PONG.", _VALUE),
    _packet(Type.PONG, _BOTH, "Answers a PING.", _VALUE),
    _packet(Type.PATH_CHALLENGE, _BOTH, "Asks for a PATH_RESPONSE from a new address.", _PATH),
    _packet(Type.PATH_RESPONSE, _BOTH, "Proves an address.", _PATH),
    _packet(
        Type.CLOSE,
        _BOTH,
        "Ends the connection.",
        Field("reason", Shape.U8, "Why.", words=CLOSES, is_closed=True, example="1"),
        changes="With the key of an open connection, it ends the connection.",
    ),
    Frame(
        Type.RESET,
        "RESET",
        "gateway → node",
        "The gateway does not know this connection.",
        (_CID, Field("token", Shape.BYTES, "That of ACCEPT.", 16, example="44" * 16)),
    ),
)
BY_CODE: Final = {frame.code: frame for frame in FRAMES}


def first_byte(frame: Frame) -> int:
    return VERSION << 4 | frame.code


def flags_of(value: int, words: Mapping[int, str]) -> str:
    """The bits of a sum, in words."""
    return ", ".join(_bits(value, words)) or "none"


def _bits(value: int, words: Mapping[int, str]) -> Iterator[str]:
    for bit, word in words.items():
        if value & bit:
            yield word
