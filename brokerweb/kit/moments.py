"""Unix milliseconds, as brokers and supervisors write times, and datetimes."""

from __future__ import annotations

import time
from datetime import UTC, datetime

LAST_MS = 253_402_300_799_000
"""The last second of the year 9999, the end of Python's calendar; messages may name later instants."""


def moment(unix_ms: float) -> datetime:
    """The instant, limited to the end of the calendar."""
    return datetime.fromtimestamp(min(unix_ms, LAST_MS) / 1000, UTC)


def now_ms() -> int:
    """Unix milliseconds."""
    return time.time_ns() // 1_000_000
