"""Replies, and errors that only the data plane has."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rest_framework.exceptions import APIException

from brokerweb.api import errors

ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Reply:
    """``body`` is JSON; empty for 304."""

    status: int
    body: bytes
    headers: Mapping[str, str]
    is_final: bool = True
    """Whether the same request, sent again, is to get it again."""


def reply(status: int, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Reply:
    return Reply(status, ENCODER.encode(body).encode(), headers or {})


def reply_to(error: Exception, more: Mapping[str, str] | None = None) -> Reply:
    """The reply of an error of a service or of REST. ``more``: further headers. Raises what is neither again."""
    return reply(*errors.answer(error), {**headers_of_error(error), **(more or {})})


def headers_of_error(error: Exception) -> Mapping[str, str]:
    """Those that REST framework adds."""
    found = {}
    if (wait := getattr(error, "wait", None)) is not None:
        found["Retry-After"] = str(wait)
    if (challenge := getattr(error, "auth_header", None)) is not None:
        found["WWW-Authenticate"] = challenge
    return found


class Busy(APIException):
    """A limit of what may wait at once is reached."""

    status_code = 503
    default_code = "too_many"
