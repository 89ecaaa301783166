"""What arguments and lines of the commands say."""

from __future__ import annotations

import json
from argparse import ArgumentTypeError
from collections.abc import Callable
from typing import Any, TypeVar

from overlay.core.errors import shown
from overlay.core.settings import InvalidText
from overlay.programs.silbops.client import ID_BYTES
from overlay.programs.text import InvalidDocument, object_of
from overlay.systems.silbops.content.filters import read_filter
from overlay.systems.silbops.content.values import InvalidContent, Values, checked_values
from overlay.systems.silbops.scope.text import parse

T = TypeVar("T")
NOTIFICATION, CONTEXT = "notification", "context"
"""Fields of a line that is no notification alone."""


def context_of(text: str) -> Values:
    """Raises ``InvalidDocument``."""
    return _checked(object_of(text))


def notification_of(text: str) -> Values:
    """Raises ``InvalidDocument``."""
    return _checked(object_of(text), fewest=1)


def publication_of(line: str) -> tuple[Values, Values | None]:
    """A notification and the new context. A line with a field ``notification`` may have a ``context``, too; any other
    line is a notification. Raises ``InvalidDocument``."""
    document = object_of(line)
    if NOTIFICATION not in document:
        return _checked(document, fewest=1), None
    for name in document:
        if name not in (NOTIFICATION, CONTEXT):
            raise InvalidDocument(f"{shown(name)} is unknown; with a {NOTIFICATION} there may be a {CONTEXT}")
    content = _checked(document[NOTIFICATION], fewest=1, field=f"{NOTIFICATION}: ")
    return content, _checked(document[CONTEXT], field=f"{CONTEXT}: ") if CONTEXT in document else None


def _checked(values: Any, *, fewest: int = 0, field: str = "") -> Values:
    try:
        return checked_values(values, fewest=fewest)
    except InvalidContent as error:
        raise InvalidDocument(f"{field}{error.sentence}") from None


# ---- types of arguments


def document(read: Callable[[str], T]) -> Callable[[str], T]:
    """What ``read`` reads, which raises ``InvalidDocument``."""

    def argument(text: str) -> T:
        try:
            return read(text)
        except InvalidDocument as error:
            raise ArgumentTypeError(str(error)) from None

    return argument


def constraints(text: str) -> Any:
    """A filter."""
    try:
        found = json.loads(text)
        read_filter(found)
    except (ValueError, RecursionError, InvalidContent) as error:
        raise ArgumentTypeError(f"{text[:40]!r} is no filter: {error}") from None
    return found


def function(text: str) -> str:
    """A function of context; empty: none."""
    try:
        if text:
            parse(text)
    except InvalidText as error:
        raise ArgumentTypeError(f"{error} (character {error.at + 1})") from None
    return text


def client_id(text: str) -> str:
    """In hexadecimal digits, in lower case."""
    try:
        if len(bytes.fromhex(text)) == ID_BYTES:
            return text.lower()
    except ValueError:
        pass
    raise ArgumentTypeError(f"{text[:40]!r} must be {2 * ID_BYTES} hexadecimal digits")
