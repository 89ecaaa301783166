"""Any text as one word of the names that engines allow: of streams, subjects and topics."""

from __future__ import annotations

import re

_EMPTY = "_"


def escaped(text: str) -> str:
    """Letters, digits and ``-``; other bytes as ``_`` and two hexadecimal digits."""
    found = (
        chr(byte) if (chr(byte).isalnum() and byte < 128) or byte == 45 else f"_{byte:02x}" for byte in text.encode()
    )
    return "".join(found) or _EMPTY


def unescaped(word: str) -> str:
    if word == _EMPTY:
        return ""
    return re.sub(rb"_([0-9a-f]{2})", lambda found: bytes.fromhex(found[1].decode()), word.encode()).decode()
