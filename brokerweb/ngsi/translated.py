"""Errors of services and of REST as problems. Pure."""

from __future__ import annotations

from rest_framework.exceptions import APIException

from brokerweb.api import errors
from brokerweb.ngsi.problems import Kind, Problem

KINDS = {
    400: Kind.WRONG,
    404: Kind.NOT_FOUND,
    409: Kind.NOT_NOW,
    413: Kind.TOO_LARGE,
    503: Kind.NOT_NOW,
    504: Kind.UNANSWERED,
}


def problem_of(error: Exception) -> Problem:
    """Raises what is no error of a service again."""
    found = errors.as_rest(error)
    if not isinstance(found, APIException):
        raise error
    status, body = errors.answer(found)
    named = f"{body['field']}: " if body["field"] else ""
    return Problem(KINDS.get(status, Kind.WRONG), f"{named}{body['sentence']}")
