"""The header ``Idempotency-Key`` of draft-ietf-httpapi-idempotency-key-header-07, for both stores of answers:
``brokerweb.api.idempotency`` in the database and ``brokerweb.front.idempotency`` in memory.
"""

from __future__ import annotations

from rest_framework import status
from rest_framework.exceptions import APIException, ErrorDetail, ValidationError

from overlay.core.errors import InvalidSetting, shown

HEADER, REPLAYED = "Idempotency-Key", "Idempotent-Replayed"
LONGEST = 255
RETRY_S = 1


class KeyReused(ValidationError):
    """The key came with another request before."""

    status_code = 422

    def __init__(self) -> None:
        sentence = "This key was sent with another request. Use a new one."
        super().__init__({HEADER: [ErrorDetail(sentence, code="key_reused")]})


class InProgress(APIException):
    """The first request with this key has no answer yet."""

    status_code = status.HTTP_409_CONFLICT
    default_code = "in_progress"
    default_detail = f"A request with this key is being carried out. Try again in {RETRY_S} s."
    headers = {"Retry-After": str(RETRY_S)}


def read_key(text: str) -> str:
    """The key, which the draft puts in quotes and others do not. Raises ``InvalidSetting``."""
    key = text.strip()
    if len(key) > 1 and key[0] == key[-1] == '"':
        key = key[1:-1]
    if 0 < len(key) <= LONGEST and key.isascii() and key.isprintable():
        return key
    raise InvalidSetting(HEADER, f"must be 1 to {LONGEST} printable ASCII characters, not {shown(text, 40)}")
