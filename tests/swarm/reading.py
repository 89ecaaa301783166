"""Datagrams as messages, each read once for all watchers."""

from functools import lru_cache

from overlay.core.errors import WireError
from overlay.systems.context_broker.wire.codec import parse
from overlay.systems.context_broker.wire.extensions import HopData
from overlay.systems.context_broker.wire.table import AnyMessage


@lru_cache(maxsize=1024)
def read(data: bytes) -> AnyMessage | None:
    """``None`` of what cannot be read."""
    try:
        return parse(data)
    except WireError:
        return None


def unwrapped(message: AnyMessage | None) -> AnyMessage | None:
    """What is in it, where it is wrapped for acknowledgement."""
    return read(message.message) if isinstance(message, HopData) else message
