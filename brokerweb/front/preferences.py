"""``Prefer: wait=N`` (RFC 7240, section 4.3). Pure."""

from __future__ import annotations

import re

LONGEST_S = 60
"""Longest wait; more is cut to it, and the answer says so in ``Preference-Applied``."""

_WAIT = re.compile(r'wait\s*=\s*"?(\d{1,9})"?\s*', re.IGNORECASE)


def wait_s(field: str) -> int:
    """Seconds that the request waits for data; 0 without this preference. What is not understood is ignored, as section
    2 asks for."""
    for preference in field.split(","):
        found = _WAIT.fullmatch(preference.partition(";")[0].strip())
        if found:
            return min(int(found[1]), LONGEST_S)
    return 0
