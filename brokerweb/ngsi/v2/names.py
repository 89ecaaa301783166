"""Names that NGSI-v2 and the context of a network both allow (section "Field syntax restrictions"). Pure."""

from __future__ import annotations

import re

from brokerweb.ngsi.pairs import MARK, TYPE
from brokerweb.ngsi.problems import wrong
from overlay.core.errors import shown

LONGEST = 256
_FIELD = re.compile(r"[!-~]+", re.ASCII)
_FORBIDDEN = frozenset("&?/#")
BUILTIN = ("dateCreated", "dateModified", "dateExpires")
BUILTIN_METADATA = ("dateCreated", "dateModified", "previousValue", "actionType")
NO_ATTRIBUTE = frozenset({"id", "type", "geo:distance", "*"})


def field(what: str, text: object, more: str = "") -> str:
    """An identifier. ``more``: further characters that it must not have. Raises ``Problem``."""
    if not isinstance(text, str):
        raise wrong(f"{what}: must be a text, not {shown(text)}.")
    if not _FIELD.fullmatch(text) or len(text) > LONGEST or not _FORBIDDEN.isdisjoint(text):
        raise wrong(f"{what}: must be 1 to {LONGEST} ASCII characters without blanks and & ? / #, not {shown(text)}.")
    for character in more:
        if character in text:
            raise wrong(f"{what}: {shown(text)} contains {character}, which this network cannot store in it.")
    return text


def entity_name(what: str, text: object) -> str:
    """An id or a type."""
    return field(what, text, "|")


def attribute_name(text: object) -> str:
    found = field("attribute name", text, f";={MARK}")
    if found in NO_ATTRIBUTE:
        raise wrong(f"attribute name: {found} is reserved.")
    return found


def metadata_name(text: object) -> str:
    found = field("metadata name", text, f";={MARK}")
    if found in ("*", TYPE):
        raise wrong(f"metadata name: {found} is reserved.")
    return found
