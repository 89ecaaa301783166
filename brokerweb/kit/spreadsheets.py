"""Text that others wrote, in a file that a spreadsheet may open. Pure."""

from __future__ import annotations

from typing import Any

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How what a spreadsheet carries out begins."""


def harmless(value: Any) -> Any:
    """A text that a spreadsheet would take for a formula is marked as text; anything else is as it was."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
