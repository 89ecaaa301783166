"""Refusals of the network as errors of REST, with the code of seed 002."""

from __future__ import annotations

from collections.abc import Mapping

from rest_framework.exceptions import APIException

from brokerweb.kit.errors import NotAnswered
from overlay.programs.questions import NoAnswer
from overlay.programs.silbops.client import Refused
from overlay.systems.silbops.wire.messages import Code

STATUS: Mapping[Code, int] = {Code.UNKNOWN_ID: 404, Code.LIMIT: 503, Code.TOO_LARGE: 413, Code.NOT_ATTACHED: 503}
"""Others are bad requests."""


class RefusedByNetwork(APIException):
    def __init__(self, answered: Code, sentence: str) -> None:
        super().__init__(sentence, answered.name.lower())
        self.status_code = STATUS.get(answered, 400)


def as_rest(error: Exception) -> Exception:
    """An error of a client as one of REST."""
    match error:
        case Refused(code=code):
            return RefusedByNetwork(code, str(error))
        case NoAnswer():
            return NotAnswered(str(error))
    return error


ERRORS = (Refused, NoAnswer)
"""Of ``as_rest``."""
