"""Errors of services as REST errors; ``brokerweb.kit.error_body`` defines their shape."""

import re
from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.http import Http404
from drf_standardized_errors.formatter import ExceptionFormatter
from drf_standardized_errors.handler import exception_handler
from drf_standardized_errors.types import ErrorResponse
from rest_framework import status
from rest_framework.exceptions import (
    APIException,
    ErrorDetail,
    NotAuthenticated,
    NotFound,
    UnsupportedMediaType,
    ValidationError,
)
from rest_framework.response import Response

from brokerweb.kit.disk import full_disk_message
from brokerweb.kit.error_body import body
from brokerweb.kit.errors import NotAnswered, NotPossible
from brokerweb.kit.etags import Outdated
from overlay.core.errors import InvalidSetting, InvalidSettings
from telemetry.errors import StorageError
from telemetry.filters import InvalidFilter


class Formatter(ExceptionFormatter):
    """Converts errors of REST framework to this API's error body."""

    def format_error_response(self, error_response: ErrorResponse) -> Any:
        return body(
            ("" if error.attr in (None, "non_field_errors") else error.attr, error.code, error.detail)
            for error in error_response.errors
        )


NO_REQUEST: Any = {}


class Conflict(APIException):
    """The request conflicts with the current state of the object."""

    status_code = status.HTTP_409_CONFLICT
    default_code = "conflict"


class PreconditionFailed(APIException):
    """What is stored does not meet the request's conditions (RFC 9110)."""

    status_code = status.HTTP_412_PRECONDITION_FAILED
    default_code = "precondition_failed"
    default_detail = "What is stored now does not meet the conditions of this request. Nothing was changed."


class PreconditionRequired(ValidationError):
    """The request does not say which version it is based on (RFC 6585)."""

    status_code = status.HTTP_428_PRECONDITION_REQUIRED


class NoAnswer(APIException):
    """No broker answered in time."""

    status_code = status.HTTP_504_GATEWAY_TIMEOUT
    default_code = "no_answer"


class DiskFull(APIException):
    """Not written: the disk is full."""

    status_code = status.HTTP_507_INSUFFICIENT_STORAGE
    default_code = "disk_full"


class Damaged(APIException):
    """A stored file of the object cannot be read; the sentence names it."""

    status_code = status.HTTP_409_CONFLICT
    default_code = "damaged"


class TooLarge(APIException):
    """The body exceeds the limit."""

    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_code = "too_large"


def handle(exception: Exception, context: Any) -> Response | None:
    """Map errors of services to 400 (with the field), 409, 412, 504 or 507; REST framework handles the rest."""
    if isinstance(exception, Outdated) and "If-Match" in context["request"].headers:
        exception = PreconditionFailed(str(exception))
    return exception_handler(as_rest(exception), context)


def answer(exception: Exception) -> tuple[int, dict[str, Any]]:
    """Status and body without a request, for ``brokerweb.front``. Raises what is no error of a service again."""
    exception = as_rest(exception)
    if not isinstance(exception, APIException):
        raise exception
    return exception.status_code, Formatter(exception, NO_REQUEST, exception).run()


def as_rest(exception: Exception) -> Exception:
    """An error of a service as REST framework's; others unchanged."""
    if isinstance(exception, InvalidFilter):
        sentence = f"{exception.sentence} (character {exception.position + 1})"
        exception = ValidationError({exception.field: [ErrorDetail(sentence, code="invalid")]})
    elif isinstance(exception, InvalidSettings):
        details: dict[str, list[ErrorDetail]] = {}
        for one in exception.errors:
            details.setdefault(one.field, []).append(ErrorDetail(one.sentence, code="invalid"))
        exception = ValidationError(details)
    elif isinstance(exception, InvalidSetting):
        exception = ValidationError({exception.field: [ErrorDetail(exception.sentence, code="invalid")]})
    elif isinstance(exception, NotPossible):
        exception = Conflict(str(exception))
    elif isinstance(exception, NotAnswered):
        exception = NoAnswer(str(exception))
    elif isinstance(exception, RequestDataTooBig):
        exception = TooLarge(f"The body exceeds {settings.DATA_UPLOAD_MAX_MEMORY_SIZE:,} bytes.")
    elif full := full_disk_message(exception):
        exception = DiskFull(full)
    elif isinstance(exception, StorageError):
        exception = Damaged(str(exception))
    elif isinstance(exception, Http404):
        exception = _missing(str(exception))
    elif isinstance(exception, NotAuthenticated | UnsupportedMediaType):
        _advise(exception)
    return exception


def _missing(sentence: str) -> NotFound:
    """Django's own sentence names a class of the database."""
    named = re.fullmatch(r"No (\w+) matches the given query\.", sentence)
    if named:
        kind = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", named[1]).lower()
        return NotFound(f"There is no such {kind}, or you may not see it.")
    return NotFound(sentence or None)


def _advise(exception: APIException) -> None:
    """Says what to send. The object stays the same: it carries the header that a 401 needs."""
    advice = "Send a token (Authorization: Bearer TOKEN), or log in."
    if isinstance(exception, UnsupportedMediaType):
        advice = f"{exception.detail} Send Content-Type: application/json."
    exception.detail = ErrorDetail(advice, code=exception.default_code)
