"""Unix milliseconds, as brokers and supervisors tell them, as the ISO 8601 of REST and the dates of pages. Pure."""

from __future__ import annotations

from datetime import UTC, datetime

LAST_MS = 253_402_300_799_000
"""The last second of the year 9999, where the calendar ends; a message may name instants far beyond it."""


def moment(unix_ms: float) -> datetime:
    """The instant, or the calendar's last second for what is behind it."""
    return datetime.fromtimestamp(min(unix_ms, LAST_MS) / 1000, UTC)
