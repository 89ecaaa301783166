"""What every server of a federation answers to a program of its network: DISCOVER with HERE, the sign of life, and a
question for its counters. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from overlay.channel import wire
from overlay.messages.errors import BadMessage
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire.codec import encode, parse
from overlay.systems.federation.wire.inspection import (
    ASKER,
    Inspect,
    Outcome,
    Subject,
    loose_body,
    question,
    read_answer,
    read_content,
)

PADDING_BYTES = 1_100
"""Of a question for counters, so that the answer, all of them, has at most three times the bytes."""


def ping(nonce: int) -> bytes:
    return wire.loose(ASKER, encode(m.Discover(nonce)))


def answers_ping(data: bytes) -> bool:
    """Whether these bytes, any, are a HERE."""
    body = loose_body(data)
    try:
        return body is not None and isinstance(parse(body), m.Here)
    except BadMessage:
        return False


def ask_counters(req: int) -> bytes:
    return wire.loose(ASKER, question(Inspect(req, subject=Subject.FIGURES, padding=PADDING_BYTES)))


def read_counters(data: bytes) -> Mapping[str, int] | None:
    """``None`` for any other bytes."""
    answer = read_answer(data)
    if answer is None or answer.outcome is not Outcome.OK:
        return None
    found = read_content(answer.content)
    is_counters = isinstance(found, dict) and all(
        type(name) is str and type(count) is int for name, count in found.items()
    )
    return found if is_counters else None
