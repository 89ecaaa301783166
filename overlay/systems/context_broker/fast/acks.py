"""ACKs (5) without building a message: two go out with every answer.

Counterpart: ``wire.codec.encode``, of which these are the bytes. ``tests/fast/test_acks.py`` compares the two.
"""

from __future__ import annotations

from functools import lru_cache

from overlay.core.addresses import Address
from overlay.systems.context_broker.broker.queries import requester_text
from overlay.systems.context_broker.wire.codec import encode
from overlay.systems.context_broker.wire.messages import Ack


@lru_cache(maxsize=64)
def ack_of(operation: str, status: int) -> bytes:
    """What an ACK says between its timestamp and the address of who asked."""
    return encode(Ack(0, status, operation, ("0", 0))).removeprefix(b"5|0").removesuffix(b"0:0")


def encode_ack(timestamp: int, status: int, operation: str, requester: Address) -> bytes:
    """``encode(Ack(...))``."""
    return b"5|%d%b%b" % (timestamp, ack_of(operation, status), requester_text(requester))
