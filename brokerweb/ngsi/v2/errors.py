"""Problems as NGSI-v2 writes them (section "Error Responses"). Pure."""

from __future__ import annotations

from brokerweb.ngsi.answers import Answer, answer
from brokerweb.ngsi.problems import Kind, Problem

ERRORS = {
    Kind.UNREADABLE: (400, "ParseError"),
    Kind.WRONG: (400, "BadRequest"),
    Kind.UNSUPPORTED: (400, "BadRequest"),
    Kind.UNSUPPORTED_QUERY: (422, "NotSupportedQuery"),
    Kind.NOT_FOUND: (404, "NotFound"),
    Kind.EXISTS: (422, "Unprocessable"),
    Kind.HAS_ATTRIBUTE: (422, "Unprocessable"),
    Kind.AMBIGUOUS: (409, "TooManyResults"),
    Kind.TENANT: (400, "BadRequest"),
    Kind.TOO_LARGE: (413, "RequestEntityTooLarge"),
    Kind.NOT_ACCEPTABLE: (406, "NotAcceptable"),
    Kind.MEDIA_TYPE: (415, "UnsupportedMediaType"),
    Kind.METHOD: (405, "MethodNotAllowed"),
    Kind.NOT_NOW: (409, "Conflict"),
    Kind.UNANSWERED: (504, "GatewayTimeout"),
}
"""Status and name; the last two are not in the standard, and are those of this installation's REST."""


NAMES = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    405: "MethodNotAllowed",
    429: "TooManyRequests",
    500: "InternalServerError",
}
"""Of answers that come from what is in front of the standard."""


def refusal(problem: Problem) -> Answer:
    status, name = ERRORS[problem.kind]
    return answer(status, {"error": name, "description": str(problem)})


def refused(status: int, sentence: str) -> Answer:
    """One that does not come from the standard."""
    return answer(status, {"error": NAMES.get(status, "Error"), "description": sentence})
