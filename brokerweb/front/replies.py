"""Replies, and errors that only the data plane has."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

from rest_framework.exceptions import APIException

from brokerweb.api.answers import VERSION, VERSION_HEADER
from brokerweb.kit import error_body
from brokerweb.kit.origin import own_id

Scope = MutableMapping[str, Any]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
ALWAYS = [
    (VERSION_HEADER.lower().encode(), VERSION.encode()),
    (b"cache-control", b"no-cache"),
    (b"vary", b"Authorization, Cookie, Accept"),
    (b"x-content-type-options", b"nosniff"),
]
"""Headers of every answer, next to its type and id. Those that Django adds for pages say nothing about JSON, and each
takes 2 µs."""
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


async def send_reply(answer: Reply, scope: Scope, send: Send) -> None:
    """As the answer to the request of ``scope``: errors as problem details, if that accepts them."""
    kind, body = b"application/json", answer.body
    if answer.status >= 400 and error_body.wants_problem(_header(scope, b"accept")):
        told = error_body.problem(json.loads(body), answer.status, scope["path"])
        kind, body = error_body.PROBLEM.encode(), json.dumps(told).encode()
    headers = [*ALWAYS, (b"x-request-id", own_id(_header(scope, b"x-request-id")).encode())]
    if answer.status != 304:
        headers += [(b"content-type", kind), (b"content-length", b"%d" % len(body))]
    if answer.headers:
        headers += [(name.lower().encode(), value.encode()) for name, value in answer.headers.items()]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _header(scope: Scope, name: bytes) -> str:
    return next((value.decode("latin1") for known, value in scope["headers"] if known == name), "")
