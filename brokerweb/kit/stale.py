"""Whether what a form showed, or a program read, is still what is stored when it comes back changed.

What is stored is named by a mark of its own values, so that no row needs a version: other values, another mark. A form
carries the mark as ``seen``, a program as ``If-Match``; where nobody says what was seen, nothing is checked.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from brokerweb.kit.errors import NotPossible

SEEN = "seen"
"""The form's field with the mark of what it showed."""
ANY = "*"
"""Of ``If-Match``: whatever is stored."""


class Outdated(NotPossible):
    """Other values were stored since those that were changed had been read."""


def mark(values: Mapping[str, Any]) -> str:
    """Names these values, which JSON holds: sixteen characters."""
    return blake2b(json.dumps(values, sort_keys=True).encode(), digest_size=8).hexdigest()


def check(seen: str, stored: Mapping[str, Any]) -> None:
    """Raises ``Outdated`` where ``seen`` is the mark of other values than those that are stored.

    To be called where nobody can store others before the change: in its transaction.
    """
    if seen and seen != ANY and seen != mark(stored):
        raise Outdated("It was changed since it was read here. Nothing was saved.")


def newer(stored: Mapping[str, str], typed: Mapping[str, str]) -> dict[str, str]:
    """By field, what is stored, in words, of those where something else was typed."""
    return {name: text or "nothing" for name, text in stored.items() if text != typed.get(name, "").strip()}
