"""Problems as NGSI-LD writes them: problem details (RFC 7807) with the types of clause 5.5.2. Pure."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from brokerweb.ngsi.answers import Answer, answer
from brokerweb.ngsi.problems import Kind, Problem

BEGIN = "https://uri.etsi.org/ngsi-ld/errors/"
ERRORS = {
    Kind.UNREADABLE: (400, "InvalidRequest"),
    Kind.WRONG: (400, "BadRequestData"),
    Kind.UNSUPPORTED: (422, "OperationNotSupported"),
    Kind.UNSUPPORTED_QUERY: (422, "OperationNotSupported"),
    Kind.NOT_FOUND: (404, "ResourceNotFound"),
    Kind.EXISTS: (409, "AlreadyExists"),
    Kind.HAS_ATTRIBUTE: (409, "AlreadyExists"),
    Kind.AMBIGUOUS: (400, "BadRequestData"),
    Kind.TENANT: (404, "NonexistentTenant"),
    Kind.TOO_LARGE: (413, ""),
    Kind.NOT_ACCEPTABLE: (406, ""),
    Kind.MEDIA_TYPE: (415, ""),
    Kind.METHOD: (405, ""),
    Kind.NOT_NOW: (409, ""),
    Kind.UNANSWERED: (504, ""),
}
"""Status and the end of the type; empty for what HTTP alone says."""


def refusal(problem: Problem) -> Answer:
    status, _ = ERRORS[problem.kind]
    return answer(status, details(problem))


def details(problem: Problem) -> dict[str, Any]:
    status, type = ERRORS[problem.kind]
    return _body(status, f"{BEGIN}{type}" if type else "about:blank", str(problem))


def refused(status: int, sentence: str) -> Answer:
    """One that does not come from the standard."""
    return answer(status, _body(status, f"{BEGIN}InternalError" if status == 500 else "about:blank", sentence))


def _body(status: int, type: str, sentence: str) -> dict[str, Any]:
    return {"type": type, "title": HTTPStatus(status).phrase, "detail": sentence, "status": status}
