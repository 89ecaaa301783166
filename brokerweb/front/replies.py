"""Replies, and errors that only the data plane has."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rest_framework.exceptions import APIException

ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Reply:
    """``body`` is JSON; empty for 304."""

    status: int
    body: bytes
    headers: Mapping[str, str]


def reply(status: int, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Reply:
    return Reply(status, ENCODER.encode(body).encode(), headers or {})


class Busy(APIException):
    """A limit of what may wait at once is reached."""

    status_code = 503
    default_code = "too_many"
