"""Payloads of context data. REST and UDP use this one mapping, so what is stored by one is read by the other. Pure.

============================ =====================================
value of a pair              its text
============================ =====================================
text                         unchanged
``True``, ``None``, numbers  as in JSON: ``true``, ``null``, ``21.5``
list, mapping                its JSON
``Decimal``, date, time      ``21.50``, ``2026-11-28`` (ISO 8601)
NumPy's scalars              as the Python value
============================ =====================================
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from waxwing.errors import InvalidMessage

Payload = Mapping[str, Any] | str
"""Pairs, or a text, which is stored unchanged."""
LONGEST_PAYLOAD = 60_000
"""Bytes."""


def pairs_of(payload: Mapping[str, Any]) -> dict[str, str]:
    """The pairs with their values as text. Raises ``InvalidMessage`` for what ``K=V;K=V`` cannot contain."""
    found = {}
    for name, value in payload.items():
        if not isinstance(name, str) or not name:
            raise InvalidMessage(f"payload: the name of a pair must be a text that is not empty, not {name!r:.60}")
        text = value_text(name, value)
        if any(mark in part for part in (name, text) for mark in ";="):
            raise InvalidMessage(f"payload: {name[:60]!r}={text[:60]!r}: names and values contain no ; and no =")
        found[str.__str__(name)] = text
    return found


def value_text(name: str, value: Any) -> str:
    """The text of a value. Raises ``InvalidMessage`` for other types, and for numbers that are not finite."""
    if isinstance(value, str):
        return str.__str__(value)  # of an enumeration its value
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:
        plain = value.item()
        if type(plain) is not type(value):
            return value_text(name, plain)
    if _is_decimal(value) or hasattr(value, "isoformat"):
        return _written(value)
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except TypeError:
        raise InvalidMessage(f"payload: {name[:60]}: a {type(value).__name__} cannot be stored") from None
    except (ValueError, RecursionError):
        raise InvalidMessage(f"payload: {name[:60]}: {value!r:.60} is not a value of JSON") from None


def _is_decimal(value: Any) -> bool:
    """A finite ``Decimal``; the module takes 4 ms to import, and who has one has imported it."""
    return type(value).__name__ == "Decimal" and value.is_finite()


def _written(value: Any) -> str:
    return str(value.isoformat()) if hasattr(value, "isoformat") else str(value)


def text_of(payload: Payload) -> str:
    """The text that is stored: ``K=V;K=V``. Raises ``InvalidMessage``."""
    if isinstance(payload, str):
        text = str.__str__(payload)
    else:
        text = ";".join(f"{name}={value}" for name, value in pairs_of(payload).items())
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise InvalidMessage("the payload is not Unicode text: it has half of a surrogate pair") from None
    if not 1 <= size <= LONGEST_PAYLOAD:
        raise InvalidMessage(f"the payload has {size:,} bytes; 1 to {LONGEST_PAYLOAD:,} are allowed")
    return text


def sendable(payload: Payload) -> str | dict[str, str]:
    """What REST gets: a text, or pairs of texts. Raises ``InvalidMessage``, as a broker would refuse it, too."""
    text_of(payload)
    return str.__str__(payload) if isinstance(payload, str) else pairs_of(payload)


def pairs(text: str) -> dict[str, str] | None:
    """The pairs of a payload ``K=V;K=V`` (a final ``;`` is allowed); ``None`` if it is none, or names a key twice."""
    found: dict[str, str] = {}
    for part in text.removesuffix(";").split(";"):
        name, is_pair, value = part.partition("=")
        if not name or not is_pair or "=" in value or name in found:
            return None
        found[name] = value
    return found
