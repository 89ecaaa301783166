"""ISO 8601 instants and Unix milliseconds. Pure."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

_LOOKS_SO = re.compile(
    r"\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:[Zz]|[+-]\d\d:?\d\d)?)?", re.ASCII
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MOST_MS = 253_402_300_799_000
"""The year 9999."""


def read_time(text: object) -> int | None:
    """Unix milliseconds; UTC if no offset is given. ``None`` for anything else than an instant or a date."""
    if not isinstance(text, str) or not _LOOKS_SO.fullmatch(text):
        return None
    try:
        moment = datetime.fromisoformat(text.upper().replace(",", "."))
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return (moment - _EPOCH) // timedelta(milliseconds=1)
    except (ValueError, OverflowError):
        return None


def write_time(unix_ms: int) -> str:
    """In UTC with milliseconds."""
    moment = _EPOCH + timedelta(milliseconds=min(max(unix_ms, 0), _MOST_MS))
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
