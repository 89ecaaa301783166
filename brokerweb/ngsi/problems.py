"""Why a request is refused, in the terms of neither standard. ``v2.errors`` and ``ld.errors`` write it in theirs."""

from __future__ import annotations

from enum import Enum, auto


class Kind(Enum):
    UNREADABLE = auto()
    """The body is no JSON."""
    WRONG = auto()
    """The request does not follow the standard."""
    UNSUPPORTED = auto()
    """It follows the standard, but does not map to the context of a network."""
    UNSUPPORTED_QUERY = auto()
    """The same of a query about places."""
    NOT_FOUND = auto()
    EXISTS = auto()
    """An entity that is to be created."""
    HAS_ATTRIBUTE = auto()
    """An attribute that is to be added."""
    AMBIGUOUS = auto()
    """Several entities have this id."""
    TENANT = auto()
    """Of another service than this network."""
    TOO_LARGE = auto()
    NOT_ACCEPTABLE = auto()
    MEDIA_TYPE = auto()
    METHOD = auto()
    NOT_NOW = auto()
    """The network is not running, or a limit of the service is reached."""
    UNANSWERED = auto()
    """No broker answered in time."""


class Problem(Exception):
    """Its text is a sentence."""

    def __init__(self, kind: Kind, sentence: str) -> None:
        super().__init__(sentence)
        self.kind = kind


def wrong(sentence: str) -> Problem:
    return Problem(Kind.WRONG, sentence)


def unsupported(sentence: str) -> Problem:
    return Problem(Kind.UNSUPPORTED, sentence)
