"""Parses numbers with units: durations such as "90s", "15m" and "1h30m", sizes such as "64kB". Pure.

Plain numbers are in the field's unit and are left to the caller.
"""

from __future__ import annotations

import re

_SECONDS = {
    "us": 1e-6,
    "µs": 1e-6,
    "μs": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "m": 60.0,
    "min": 60.0,
    "h": 3600.0,
    "d": 86_400.0,
}
_BYTES = {"B": 1.0, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30}
_PER_UNIT = {"s": (_SECONDS, 1.0), "ms": (_SECONDS, 1e-3), "us": (_SECONDS, 1e-6), "bytes": (_BYTES, 1.0)}
"""By unit of a field: the accepted suffixes with their value in the smallest unit, and the value of the unit itself."""
_PART = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,9})?)\s*([A-Za-zµμ]{1,3})\s*")
_MOST_CHARACTERS = 60


def is_quantity(unit: str) -> bool:
    """Whether numbers of this unit accept a suffix."""
    return unit in _PER_UNIT


def read(text: str, unit: str) -> float | None:
    """The number that ``text`` means in ``unit`` (s, ms, us or bytes); ``None`` if it has no valid suffix.

    Parts add up, the larger first: "1h30m" is 5400 in s and 5400000 in ms; "30m1h" is invalid.
    """
    if unit not in _PER_UNIT or len(text) > _MOST_CHARACTERS:
        return None
    suffixes, one = _PER_UNIT[unit]
    found, least, at = 0.0, float("inf"), 0
    text = text.strip()
    while at < len(text):
        part = _PART.match(text, at)
        if part is None or part[2] not in suffixes or suffixes[part[2]] >= least:
            return None
        least = suffixes[part[2]]
        found += float(part[1]) * least
        at = part.end()
    return round(found / one, 9) if text else None
