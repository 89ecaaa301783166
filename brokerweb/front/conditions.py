"""Conditional requests (RFC 9110, section 13). Pure.

A tag names the stored value, not the bytes of an answer, so weak and strong tags are equal.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from email.utils import formatdate, parsedate_to_datetime
from functools import lru_cache

NAMES = ("if-match", "if-none-match", "if-unmodified-since", "if-modified-since")
GO_ON, NOT_MODIFIED, FAILED = 0, 304, 412

_TAG = re.compile(r'(?:W/)?"([\x21\x23-\x7e\x80-\xff]*)"')


def are_given(headers: Mapping[str, str]) -> bool:
    """Whether the request has any; ``headers`` by lower-case name."""
    return any(name in headers for name in NAMES)


def check(headers: Mapping[str, str], version: str | None, changed_ms: int, *, is_safe: bool) -> int:
    """``GO_ON``, or the status of the answer. ``version`` is that of the stored value; ``None`` if there is none.

    In the order of section 13.2.2. A date that cannot be read is ignored, as section 13.1.4 asks for.
    """
    if (wanted := headers.get("if-match")) is not None:
        if not _names(wanted, version):
            return FAILED
    elif version is not None and _is_later(changed_ms, headers.get("if-unmodified-since")):
        return FAILED
    if (unwanted := headers.get("if-none-match")) is not None:
        if _names(unwanted, version):
            return NOT_MODIFIED if is_safe else FAILED
    elif is_safe and version is not None and _is_later(changed_ms, headers.get("if-modified-since")) is False:
        return NOT_MODIFIED
    return GO_ON


def tag(version: str) -> str:
    """The ``ETag``."""
    return f'"{version}"'


def date(unix_ms: int) -> str:
    """The ``Last-Modified``; it has whole seconds."""
    return _date(unix_ms // 1000)


@lru_cache(maxsize=1024)
def _date(unix_s: int) -> str:
    return formatdate(unix_s, usegmt=True)


def _names(field: str, version: str | None) -> bool:
    """Whether ``*`` or one of the tags is the version."""
    if version is None:
        return False
    return field.strip() == "*" or version in _TAG.findall(field)


def _is_later(changed_ms: int, field: str | None) -> bool | None:
    """``None`` without a date."""
    if field is None:
        return None
    try:
        moment = parsedate_to_datetime(field)
        return moment.tzinfo is not None and changed_ms // 1000 > moment.timestamp()
    except (ValueError, OverflowError):
        return None
