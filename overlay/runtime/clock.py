"""The wall clock and the monotonic clock. Only drivers read them, never a core."""

from __future__ import annotations

import time

from overlay.core.node import MILLISECOND


def wall_offset_ns() -> int:
    """Unix nanoseconds minus monotonic nanoseconds, now."""
    return time.time_ns() - time.monotonic_ns()


def unix_ms(now: int) -> int:
    """The wall clock at a monotonic time (ns), in Unix milliseconds."""
    return (now + wall_offset_ns()) // MILLISECOND
