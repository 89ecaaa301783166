"""Numbers and words in queries. Pure."""

from __future__ import annotations

import re
from typing import Any

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?", re.ASCII)
_WORDS = {"true": True, "false": False, "null": None}
_MOST_DIGITS = 400


def literal(text: str) -> Any:
    """A number, a truth value, ``None`` or the text itself."""
    if text in _WORDS:
        return _WORDS[text]
    if not _NUMBER.fullmatch(text) or len(text) > _MOST_DIGITS:
        return text
    number = text.removeprefix("+")
    return int(number) if number.removeprefix("-").isdigit() else float(number)
