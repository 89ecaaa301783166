"""Refusals of the network as errors of REST, with the code of seed 001."""

from __future__ import annotations

from collections.abc import Mapping

from rest_framework.exceptions import APIException

from brokerweb.kit.errors import NotAnswered
from overlay.core.errors import InvalidSetting
from overlay.messages.errors import BadMessage
from overlay.programs.federation.client import Busy, NoAnswer, Refused
from overlay.systems.federation.wire.messages import Code

STATUS: Mapping[Code, int] = {
    Code.UNKNOWN: 404,
    Code.INVALID: 409,
    Code.BAD: 400,
    Code.LIMIT: 503,
    Code.NO_PROVIDER: 404,
    Code.CYCLE: 409,
    Code.TIMEOUT: 504,
    Code.DENIED: 403,
}
CODE_OF_STATUS: Mapping[int, Code] = {
    400: Code.BAD,
    401: Code.DENIED,
    403: Code.DENIED,
    404: Code.UNKNOWN,
    409: Code.INVALID,
    413: Code.LIMIT,
    429: Code.LIMIT,
    503: Code.LIMIT,
    504: Code.TIMEOUT,
}
"""Others are bad requests."""


class RefusedByNetwork(APIException):
    """``answered`` is the code of the network."""

    def __init__(self, answered: Code, sentence: str) -> None:
        super().__init__(sentence, answered.name.lower())
        self.answered = answered
        self.status_code = STATUS.get(answered, 400)


def as_rest(error: Exception) -> Exception:
    """An error of a client as one of REST."""
    match error:
        case Refused(code=code):
            return RefusedByNetwork(code, str(error))
        case NoAnswer():
            return NotAnswered(str(error))
        case Busy():
            return RefusedByNetwork(Code.LIMIT, f"{str(error)[:1].upper()}{str(error)[1:]}.")
        case BadMessage():
            return InvalidSetting("message", error.sentence)
    return error


ERRORS = (Refused, NoAnswer, Busy, BadMessage)
"""Of ``as_rest``."""
