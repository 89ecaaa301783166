"""Regular expressions of users, matched in linear time by RE2: they run in the event loop."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Protocol

import re2

from brokerweb.ngsi.problems import wrong
from overlay.core.errors import shown

LONGEST = 500
"""Characters of a pattern."""
MOST_BYTES = 1 << 20
"""Memory of one pattern."""


class Pattern(Protocol):
    def search(self, text: str) -> Any: ...


@lru_cache(maxsize=256)
def pattern_of(field: str, text: str) -> Pattern:
    """Raises ``Problem``."""
    if len(text) > LONGEST:
        raise wrong(f"{field}: a pattern has at most {LONGEST} characters, not {len(text):,}.")
    options = re2.Options()
    options.max_mem = MOST_BYTES
    options.log_errors = False
    try:
        found: Pattern = re2.compile(text, options=options)
    except re2.error as error:
        why = error.args[0]
        said = why.decode(errors="replace") if isinstance(why, bytes) else str(why)
        raise wrong(f"{field}: {shown(text)} is no regular expression (RE2): {said}.") from None
    return found
