"""The one error of messages that cannot be read or written."""

from __future__ import annotations

from enum import StrEnum
from typing import NoReturn

from overlay.core.errors import WireError


class Reason(StrEnum):
    """Why a message is refused: what is counted."""

    SIZE = "size"
    """Longer than a message can be."""
    ENCODING = "encoding"
    """No MessagePack, or surplus bytes; in ContextML, no XML."""
    KIND = "kind"
    """No array that begins with a known kind."""
    COUNT = "count"
    """An array with too few or too many elements."""
    TYPE = "type"
    """A value of another type."""
    RANGE = "range"
    """A number, text or value outside its range."""
    EXPRESSION = "expression"
    """A malformed expression."""
    LIMIT = "limit"
    """Well formed, but more than a limit of the system allows."""


class BadMessage(WireError):
    """``parse`` and ``encode`` raise nothing else. ``kind`` and ``req`` are those of the message, 0 if they cannot be
    read."""

    def __init__(self, reason: Reason, sentence: str, kind: int = 0, req: int = 0) -> None:
        super().__init__(sentence)
        self.reason = reason
        self.sentence = sentence
        self.kind = kind
        self.req = req


def refuse(reason: Reason, sentence: str) -> NoReturn:
    raise BadMessage(reason, sentence)
