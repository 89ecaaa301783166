"""Moments as words, and words as moments. Unix milliseconds. Pure."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_LAST_MS = 253_402_300_799_999
"""The end of the year 9999, the last that a date can name."""
_FROM_NOW = re.compile(r"now(?:\s*([+-])\s*(\d{1,12})\s*(ms|s|min|h|d)?)?", re.IGNORECASE)
_UNIT_MS = {"ms": 1, "s": 1_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}


def from_now(text: str, now_ms: int) -> int | None:
    """``now``, ``now+120s`` or ``now-5min``; ``None`` for any other text."""
    match = _FROM_NOW.fullmatch(text.strip())
    if match is None:
        return None
    sign, number, unit = match.groups()
    away = int(number or 0) * _UNIT_MS[(unit or "ms").lower()]
    return max(0, now_ms - away if sign == "-" else now_ms + away)


def date_of(unix_ms: int) -> str:
    """Unix milliseconds as a date and time."""
    if unix_ms > _LAST_MS:
        return "after the year 9999"
    moment = datetime.fromtimestamp(unix_ms // 1000, UTC)
    return f"{moment.day} {moment:%b %Y %H:%M:%S}.{unix_ms % 1000:03d} UTC"


def distance(unix_ms: int, now_ms: int) -> str:
    """How far from now: "3 min ago", "in 120 s"."""
    seconds = abs(now_ms - unix_ms) / 1000
    if seconds < 1:
        return "now"
    for limit, unit, word in ((120, 1, "s"), (7_200, 60, "min"), (172_800, 3_600, "h"), (10**9, 86_400, "days")):
        if seconds < limit:
            words = f"{round(seconds / unit)} {word}"
            return f"{words} ago" if unix_ms < now_ms else f"in {words}"
    return "more than 30 years ago" if unix_ms < now_ms else "in more than 30 years"
