"""What both ends of a connection agree upon."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from overlay.core.node import MILLISECOND, SECOND


class Terms(NamedTuple):
    """Times in ns."""

    window: int
    rto_min: int
    ack_delay: int
    idle: int
    tag_bytes: int


@lru_cache(maxsize=64)
def terms_of(window: int, rto_min_ms: int, ack_delay_ms: int, idle_s: int, tag_bytes: int) -> Terms:
    """The same object for the same values: thousands of connections share it."""
    return Terms(window, rto_min_ms * MILLISECOND, ack_delay_ms * MILLISECOND, idle_s * SECOND, tag_bytes)
