"""Protects exported text against formula injection in spreadsheets. Pure."""

from __future__ import annotations

from typing import Any

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""First characters of formulas."""


def harmless(value: Any) -> Any:
    """Text that a spreadsheet would interpret as a formula is prefixed; other values are unchanged."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
