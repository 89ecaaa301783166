"""What services refuse, as REST's errors; ``brokerweb.kit.error_body`` has their shape."""

from typing import Any

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from drf_standardized_errors.formatter import ExceptionFormatter
from drf_standardized_errors.handler import exception_handler
from drf_standardized_errors.types import ErrorResponse
from rest_framework import status
from rest_framework.exceptions import APIException, ErrorDetail, ValidationError
from rest_framework.response import Response

from brokerweb.kit.disk import told_full
from brokerweb.kit.error_body import body
from brokerweb.kit.errors import NotAnswered, NotPossible
from overlay.core.errors import InvalidSetting
from telemetry.filters import InvalidFilter


class Formatter(ExceptionFormatter):
    """Says what REST framework found in our words for it."""

    def format_error_response(self, error_response: ErrorResponse) -> Any:
        return body(
            ("" if error.attr in (None, "non_field_errors") else error.attr, error.code, error.detail)
            for error in error_response.errors
        )


class Conflict(APIException):
    """What was asked does not fit the state the thing is in."""

    status_code = status.HTTP_409_CONFLICT
    default_code = "conflict"


class NoAnswer(APIException):
    """No broker answered in time."""

    status_code = status.HTTP_504_GATEWAY_TIMEOUT
    default_code = "no_answer"


class DiskFull(APIException):
    """It could not be written."""

    status_code = status.HTTP_507_INSUFFICIENT_STORAGE
    default_code = "disk_full"


class TooLarge(APIException):
    """The body is more than is read into memory for one request."""

    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_code = "too_large"


def handle(exception: Exception, context: Any) -> Response | None:
    """What a service refused becomes a 400 that names the field, 409, 504 or 507; the rest is REST framework's."""
    if isinstance(exception, InvalidFilter):
        sentence = f"{exception.sentence} (character {exception.position + 1})"
        exception = ValidationError({exception.field: [ErrorDetail(sentence, code="invalid")]})
    elif isinstance(exception, InvalidSetting):
        exception = ValidationError({exception.field: [ErrorDetail(exception.sentence, code="invalid")]})
    elif isinstance(exception, NotPossible):
        exception = Conflict(str(exception))
    elif isinstance(exception, NotAnswered):
        exception = NoAnswer(str(exception))
    elif isinstance(exception, RequestDataTooBig):
        exception = TooLarge(f"The body is larger than {settings.DATA_UPLOAD_MAX_MEMORY_SIZE:,} bytes.")
    elif full := told_full(exception):
        exception = DiskFull(full)
    return exception_handler(exception, context)
