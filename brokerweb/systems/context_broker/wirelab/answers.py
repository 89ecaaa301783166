"""Which answer is the last one to a datagram. Pure."""

from __future__ import annotations

from overlay.core.errors import WireError
from overlay.systems.context_broker.wire.codec import code_of, parse
from overlay.systems.context_broker.wire.discovery_messages import BrokersResponse
from overlay.systems.context_broker.wire.feed_messages import FeedResponse
from overlay.systems.context_broker.wire.messages import (
    Ack,
    ContextResponse,
    Nack,
    NeighborsResponse,
    PingResponse,
    StatsResponse,
    Status,
)
from overlay.systems.context_broker.wire.table import OPERATIONS, AnyMessage


def is_last(asked: bytes, answer: bytes) -> bool:
    """Whether nothing more is said to a message after this answer."""
    try:
        message: AnyMessage = parse(answer)
    except WireError:
        return False
    if isinstance(message, Nack | PingResponse | NeighborsResponse | StatsResponse | FeedResponse | BrokersResponse):
        return True
    code = code_of(asked)
    if isinstance(message, Ack):
        is_only = message.operation in (OPERATIONS[0], OPERATIONS[7]) or asked.endswith(b"|*")
        return message.status == Status.REQ_PROCESSED or is_only
    return isinstance(message, ContextResponse) and code == 32
