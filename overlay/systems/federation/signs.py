"""The sign of life of a federation's servers: they answer DISCOVER with HERE. Pure."""

from __future__ import annotations

from overlay.channel import wire
from overlay.messages.errors import BadMessage
from overlay.peers.questions import ASKER, loose_body
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire.codec import encode, parse


def ping(nonce: int) -> bytes:
    return wire.loose(ASKER, encode(m.Discover(nonce)))


def answers_ping(data: bytes) -> bool:
    """Whether these bytes, any, are a HERE."""
    body = loose_body(data)
    try:
        return body is not None and isinstance(parse(body), m.Here)
    except BadMessage:
        return False
