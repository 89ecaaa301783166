"""Optimistic locking: detects that stored values changed between reading and writing.

A mark is a digest of the values, so rows need no version column. Forms send the mark as ``seen``, programs as
``If-Match``; without a mark, nothing is checked.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from brokerweb.kit.errors import NotPossible

SEEN = "seen"
"""The form field with the mark of the values it showed."""
ANY = "*"
"""``If-Match: *`` accepts any stored values."""


class Outdated(NotPossible):
    """The stored values changed since they were read."""


def mark(values: Mapping[str, Any]) -> str:
    """The mark of JSON values: sixteen characters."""
    return blake2b(json.dumps(values, sort_keys=True).encode(), digest_size=8).hexdigest()


def check(seen: str, stored: Mapping[str, Any]) -> None:
    """Raises ``Outdated`` if ``seen`` is not the mark of the stored values.

    Call it in the transaction of the change, so that the values cannot change in between.
    """
    if seen and seen != ANY and seen != mark(stored):
        raise Outdated("The stored values changed since they were read. Nothing was saved.")


def newer(stored: Mapping[str, str], typed: Mapping[str, str]) -> dict[str, str]:
    """Stored values, as text, of the fields where other values were entered."""
    return {name: text or "nothing" for name, text in stored.items() if text != typed.get(name, "").strip()}
