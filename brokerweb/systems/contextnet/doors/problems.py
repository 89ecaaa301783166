"""What goes wrong in the network, as errors of REST."""

from __future__ import annotations

from brokerweb.kit.errors import NotAnswered
from overlay.core.errors import InvalidSetting
from overlay.programs.questions import NoAnswer
from overlay.runtime.logs.port import Denied
from overlay.systems.contextnet.records.codec import BadRecord

ERRORS = (NoAnswer, Denied, BadRecord)
"""Of ``as_rest``."""


def as_rest(error: Exception) -> Exception:
    """An error of an application as one of REST. What is in a record beyond texts and times was checked before."""
    match error:
        case NoAnswer() | Denied():
            return NotAnswered(str(error))
        case BadRecord():
            return InvalidSetting("group", f"cannot be sent to: {error}")
    return error
