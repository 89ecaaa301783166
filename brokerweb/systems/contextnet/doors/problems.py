"""What goes wrong in the network, as errors of REST."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from brokerweb.kit.errors import NotAnswered, NotPossible
from overlay.core.errors import InvalidSetting
from overlay.programs.questions import NoAnswer
from overlay.runtime.logs.port import Denied, NoUsers
from overlay.systems.contextnet.records.codec import BadRecord

T = TypeVar("T")
ERRORS = (NoAnswer, Denied, NoUsers, BadRecord)
"""Of ``as_rest``."""


def as_rest(error: Exception) -> Exception:
    """An error of an application as one of REST. What is in a record beyond texts and times was checked before."""
    match error:
        case NoAnswer() | Denied():
            return NotAnswered(str(error))
        case NoUsers():
            return NotPossible(str(error))
        case BadRecord():
            return InvalidSetting("group", f"cannot be sent to: {error}")
    return error


def asked(ask: Callable[..., T], *more: Any) -> T:
    """What a log answers, in a thread that waits for it."""
    try:
        return ask(*more)
    except ERRORS as error:
        raise as_rest(error) from None
