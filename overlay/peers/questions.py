"""INSPECT and INSPECTED: the bodies of LOOSE datagrams between an operator's program and a server. Pure.

They begin with a byte that begins no message of a network (0xC1 is not used by MessagePack), so that nodes tell them
apart at once. Numbers are big-endian; the content of an answer is MessagePack.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from enum import IntEnum
from struct import Struct
from typing import Any, NamedTuple

import msgpack

from overlay.channel import wire

PADDING_BYTES = 1_100
"""Of a question for counters, so that the answer, all of them, has at most three times the bytes."""
ASKER = b"monitor"
"""The id of who asks, which has no channel."""
MAGIC = 0xC1
_INSPECT, _INSPECTED = 1, 2
_QUESTION = Struct(">BBQQBII")
_ANSWER = Struct(">BBQBQ")


FIGURES = 0
"""The subject that every server has: its counters by name. Others are numbers of the system."""


class Outcome(IntEnum):
    OK = 0
    TOKEN = 1
    """Repeat the question with this token."""
    ELSEWHERE = 2
    """Only programs on the host of the server are answered."""


class Inspect(NamedTuple):
    req: int
    token: int = 0
    subject: int = FIGURES
    offset: int = 0
    limit: int = 0
    padding: int = 0
    """Bytes of 0: the answer to an address that is not proven has at most three times the bytes of the question."""
    content: bytes = b""
    """MessagePack, in place of padding: what is asked about."""

    @property
    def size(self) -> int:
        return _QUESTION.size + self.padding + len(self.content)


class Inspected(NamedTuple):
    req: int
    outcome: Outcome
    token: int = 0
    content: bytes = b""


def question(message: Inspect) -> bytes:
    req, token, subject, offset, limit, padding, content = message
    return _QUESTION.pack(MAGIC, _INSPECT, req, token, subject, offset, limit) + bytes(padding) + content


def answer(message: Inspected) -> bytes:
    return _ANSWER.pack(MAGIC, _INSPECTED, message.req, message.outcome, message.token) + message.content


def read_question(body: bytes, subjects: Container[int]) -> Inspect | None:
    """``None`` for any other bytes, and for other subjects."""
    if len(body) < _QUESTION.size or body[:2] != bytes((MAGIC, _INSPECT)):
        return None
    _, _, req, token, subject, offset, limit = _QUESTION.unpack_from(body)
    if subject not in subjects:
        return None
    rest = body[_QUESTION.size :]
    padding, content = (0, rest) if any(rest) else (len(rest), b"")
    return Inspect(req, token, subject, offset, limit, padding, content)


def read_answer(data: bytes) -> Inspected | None:
    """Of a datagram; ``None`` for any other bytes."""
    body = loose_body(data)
    if body is None or len(body) < _ANSWER.size or body[:2] != bytes((MAGIC, _INSPECTED)):
        return None
    _, _, req, outcome, token = _ANSWER.unpack_from(body)
    if outcome not in set(Outcome):
        return None
    return Inspected(req, Outcome(outcome), token, body[_ANSWER.size :])


def read_content(content: bytes) -> Any:
    """Of INSPECTED; ``None`` if it cannot be read."""
    try:
        return msgpack.unpackb(content)
    except (ValueError, TypeError, msgpack.UnpackException, RecursionError):
        return None


def loose_body(data: bytes) -> bytes | None:
    """The message in a LOOSE datagram; ``None`` for any other bytes."""
    if len(data) < wire.HEAD_BYTES or wire.HEAD.unpack_from(data)[:2] != (wire.MAGIC, wire.LOOSE):
        return None
    name = wire.read_id(data, wire.HEAD_BYTES, len(data))
    return data[wire.HEAD_BYTES + 1 + len(name) :] if name else None


def ping(req: int) -> bytes:
    """The datagram of a question that a server answers at once, if only by a token."""
    return wire.loose(ASKER, question(Inspect(req)))


def ask_figures(req: int) -> bytes:
    """The datagram of a question for counters."""
    return wire.loose(ASKER, question(Inspect(req, padding=PADDING_BYTES)))


def read_figures(data: bytes) -> Mapping[str, int] | None:
    """The counters in an answer to ``ask_figures``; ``None`` for any other bytes."""
    answer = read_answer(data)
    if answer is None or answer.outcome is not Outcome.OK:
        return None
    found = read_content(answer.content)
    is_counters = isinstance(found, dict) and all(
        type(name) is str and type(count) is int for name, count in found.items()
    )
    return found if is_counters else None
