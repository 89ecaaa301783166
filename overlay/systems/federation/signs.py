"""The sign of life of brokers and of the registration service: DISCOVER, which both answer with HERE. Pure."""

from __future__ import annotations

from overlay.channel import wire
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire.codec import encode, parse
from overlay.systems.federation.wire.errors import BadMessage

ASKER = b"monitor"
"""The id of who asks, which has no channel."""


def ping(nonce: int) -> bytes:
    return wire.loose(ASKER, encode(m.Discover(nonce)))


def answers_ping(data: bytes) -> bool:
    """Whether these bytes, any, are a HERE."""
    if len(data) < wire.HEAD_BYTES or wire.HEAD.unpack_from(data)[:2] != (wire.MAGIC, wire.LOOSE):
        return False
    name = wire.read_id(data, wire.HEAD_BYTES, len(data))
    try:
        return bool(name) and isinstance(parse(data[wire.HEAD_BYTES + 1 + len(name) :]), m.Here)
    except BadMessage:
        return False
