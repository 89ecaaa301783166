"""Values of attributes as texts of a payload's pairs, and back. Pure.

A text that is JSON is that value; any other text is itself. So a provider's ``21.5`` is a number and its ``on`` a
string, and structured values are readable for those who know nothing of NGSI. A string that would be read as something
else, or has a character that separates pairs, is written as JSON: ``"21.5"``.
"""

from __future__ import annotations

import json
from typing import Any

from overlay.core.untrusted import Unreadable, read_json

_BEGINS_JSON = frozenset('-0123456789tfn"[{')
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def text_of(value: Any) -> str:
    """The text of a JSON value, without ``;`` and ``=``."""
    if isinstance(value, str) and ";" not in value and "=" not in value and value_of(value) == value:
        return value
    # Both characters occur in strings only, where their escapes mean the same.
    return _ENCODER.encode(value).replace(";", "\\u003b").replace("=", "\\u003d")


def value_of(text: str) -> Any:
    """The value of any text."""
    if text[:1] not in _BEGINS_JSON:
        return text
    try:
        return read_json(text)
    except Unreadable:
        return text


def default_type(value: Any) -> str:
    """The NGSI-v2 type of a value without one (section "Partial Representations")."""
    if value is None:
        return "None"
    if isinstance(value, bool):
        return "Boolean"
    if isinstance(value, int | float):
        return "Number"
    return "Text" if isinstance(value, str) else "StructuredValue"
