"""Values of attributes as ``text/plain`` (section "Attribute Value"). Pure."""

from __future__ import annotations

import json
from typing import Any

from brokerweb.ngsi.problems import Kind, Problem, wrong
from brokerweb.ngsi.queries.literals import literal
from overlay.core.errors import shown


def as_text(value: Any) -> str:
    """A string in quotes, anything else as JSON."""
    return f'"{value}"' if isinstance(value, str) else json.dumps(value)


def of_text(body: bytes) -> Any:
    """Raises ``Problem``."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        raise Problem(Kind.UNREADABLE, "The body is not valid utf-8 text.") from None
    if len(text) > 1 and text[0] == text[-1] == '"':
        return text[1:-1]
    found = literal(text)
    if isinstance(found, str):
        raise wrong(f"The body must be a number, true, false, null or a text in quotes, not {shown(text)}.")
    return found
