"""The channel's datagrams as a table of binary messages. ``overlay.channel`` reads and writes them by hand, for speed;
a test compares both. Sealed datagrams end in 16 bytes more.
"""

from __future__ import annotations

from typing import NamedTuple

from overlay.channel import wire
from overlay.channel.settings import MOST_ID
from overlay.core.binary import Field, Format, Kind, Layout

RECORDS, MESSAGE = "records", "message"
"""Names of the fields that contain messages."""
_BOTH = "either end → the other"


class Data(NamedTuple):
    room: int
    to: int
    seq: int
    ack: int
    sack: int
    records: bytes


class Ack(NamedTuple):
    room: int
    to: int
    seq: int
    ack: int
    sack: int


class Hello(NamedTuple):
    room: int
    to: int
    seq: int
    ack: int
    sack: int
    incarnation: int
    id: str
    padding: bytes


class Welcome(NamedTuple):
    room: int
    to: int
    seq: int
    ack: int
    sack: int
    incarnation: int
    id: str


class Reset(NamedTuple):
    room: int
    to: int
    seq: int
    ack: int
    sack: int
    unknown: int


class Bye(NamedTuple):
    room: int
    to: int
    seq: int
    ack: int
    sack: int


class Probe(NamedTuple):
    room: int
    to: int
    seq: int
    ack: int
    sack: int
    nonce: int


class Probed(NamedTuple):
    room: int
    to: int
    seq: int
    ack: int
    sack: int
    nonce: int


class Loose(NamedTuple):
    room: int
    to: int
    seq: int
    ack: int
    sack: int
    id: str
    message: bytes


def _head(room: str = "256", to: str = "0", seq: str = "0") -> tuple[Field, ...]:
    return (
        Field("room", Kind.U16, "Records after ack that may be sent to the sender.", unit="records", example=room),
        Field("to", Kind.U64, "The receiver's incarnation; 0 if none is known.", example=to),
        Field("seq", Kind.U32, "Number of the first record, its low 32 bits.", example=seq),
        Field("ack", Kind.U32, "All records up to this one have arrived, its low 32 bits; 0: none.", example="0"),
        Field("sack", Kind.U64, "Bit i: record ack + 2 + i has arrived.", example="0"),
    )


_ID = Field("id", Kind.TEXT8, "The sender's id.", example="c0")
_INCARNATION = Field("incarnation", Kind.U64, "The sender's, drawn for this session; not 0.", example="1")
_NONCE = Field("nonce", Kind.U64, "A random number, which the answer repeats.", example="7")


def _check_id(message: Hello | Welcome | Loose) -> str:
    size = len(message.id.encode())
    return f"id has {size} bytes; at most {MOST_ID} are permitted" if size > MOST_ID else ""


def _check_session(message: Hello | Welcome) -> str:
    return _check_id(message) or ("" if message.incarnation else "incarnation must not be 0")


def _check_hello(message: Hello) -> str:
    size = wire.HEAD_BYTES + 9 + len(message.id.encode()) + len(message.padding)
    if size < wire.HELLO_BYTES:
        return f"a HELLO has at least {wire.HELLO_BYTES} bytes, not {size}"
    return _check_session(message)


def _check_loose(message: Loose) -> str:
    return _check_id(message) or ("" if message.message else "message is empty")


FORMAT = Format(
    bytes([wire.MAGIC]),
    (
        Layout(
            wire.DATA,
            Data,
            "channel DATA",
            _BOTH,
            "Carries records: messages, or parts of them.",
            (*_head(to="1", seq="1"), Field(RECORDS, Kind.REST, "Each after its length.", example="0x0001c0")),
        ),
        Layout(wire.ACK, Ack, "channel ACK", _BOTH, "Acknowledges records.", _head(to="1")),
        Layout(
            wire.HELLO,
            Hello,
            "channel HELLO",
            _BOTH,
            "Asks for a session.",
            (
                *_head(),
                _INCARNATION,
                _ID,
                Field("padding", Kind.REST, "Zeros, up to 96 bytes in all.", example=f"0x{'00' * 57}"),
            ),
            _check_hello,
        ),
        Layout(
            wire.WELCOME,
            Welcome,
            "channel WELCOME",
            _BOTH,
            "Answers HELLO: to has the incarnation of the HELLO.",
            (*_head(to="1"), _INCARNATION, _ID),
            _check_session,
        ),
        Layout(
            wire.RESET,
            Reset,
            "channel RESET",
            _BOTH,
            "Says that the sender has no such session.",
            (*_head(room="0"), Field("unknown", Kind.U64, "The incarnation that it does not have.", example="1")),
        ),
        Layout(wire.BYE, Bye, "channel BYE", _BOTH, "Ends a session.", _head(to="1")),
        Layout(
            wire.PROBE, Probe, "channel PROBE", _BOTH, "Asks whether the receiver is there.", (*_head(to="1"), _NONCE)
        ),
        Layout(wire.PROBED, Probed, "channel PROBED", _BOTH, "Answers PROBE.", (*_head(to="1"), _NONCE)),
        Layout(
            wire.LOOSE,
            Loose,
            "channel LOOSE",
            "any peer → any peer",
            "Carries one message outside sessions, without order or repetition.",
            (*_head(room="0"), _ID, Field(MESSAGE, Kind.REST, "The message.", example="0xc0")),
            _check_loose,
        ),
    ),
)
