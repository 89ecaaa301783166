"""How replies are sent: the headers of all answers, what is left of the budget, and compression."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.utils.text import compress_string

from brokerweb.api.answers import VERSION, VERSION_HEADER
from brokerweb.front.budgets import POLICY
from brokerweb.front.replies import Reply
from brokerweb.kit import error_body
from brokerweb.kit.origin import own_id
from brokerweb.kit.throttles import Budget

Headers = list[tuple[bytes, bytes]]
Scope = MutableMapping[str, Any]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

ALWAYS: Headers = [
    (VERSION_HEADER.lower().encode(), VERSION.encode()),
    (b"cache-control", b"no-cache"),
    (b"vary", b"Authorization, Cookie, Accept, Accept-Encoding"),
    (b"x-content-type-options", b"nosniff"),
]
"""Headers of every answer, next to its type and id. Those that Django adds for pages say nothing about JSON, and each
takes 2 µs."""
WITHOUT_LENGTH = (204, 304)
"""Statuses of answers without a body (RFC 9110, section 8.6)."""
LEAST_COMPRESSED = 1_000
"""Bytes; shorter bodies gain nothing."""
LEAST_IN_THREAD = 30_000
"""Bytes; longer bodies would take the event loop more than a millisecond."""
RANDOM_BYTES = 100
"""Of a random file name in compressed bodies, so that their sizes do not reveal secrets (as Django does it)."""


def headers_of(scheme: str, budget: Budget | None) -> Headers:
    """Those that depend on the request: ``RateLimit`` as ``Budget.tell`` adds it, and HSTS as it is set for Django."""
    headers = list(_hsts(settings.SECURE_HSTS_SECONDS)) if scheme == "https" else []
    if budget is not None:
        headers.append((b"ratelimit-policy", _policy(budget.quota)))
        headers.append((b"ratelimit", b'"%b";r=%d;t=%d' % (POLICY.encode(), budget.left, budget.retry_s)))
    return headers


async def send_reply(answer: Reply, scope: Scope, send: Send, more: Headers, encodings: str = "") -> None:
    """The answer to the request of ``scope``, errors as problem details if it accepts them.

    ``more``: further headers; ``encodings``: the ``Accept-Encoding`` of a client that may get a compressed body.
    """
    kind, body = "application/json", answer.body
    if answer.status >= 400 and error_body.wants_problem(_header(scope, b"accept")):
        told = error_body.problem(json.loads(body), answer.status, scope["path"])
        kind, body = error_body.PROBLEM, json.dumps(told).encode()
    await send_body(answer.status, kind, body, answer.headers, scope, send, more, encodings)


async def send_body(
    status: int,
    kind: str,
    body: bytes,
    own: Mapping[str, str],
    scope: Scope,
    send: Send,
    more: Headers,
    encodings: str = "",
) -> None:
    """Every answer of the data plane. ``kind``: the content type of ``body``; ``own``: headers of this answer."""
    headers = [*ALWAYS, *more, (b"x-request-id", own_id(_header(scope, b"x-request-id")).encode())]
    if len(body) >= LEAST_COMPRESSED and accepts_gzip(encodings):
        body = await _compressed(body)
        headers.append((b"content-encoding", b"gzip"))
    if body:
        headers.append((b"content-type", kind.encode()))
    if status not in WITHOUT_LENGTH:
        headers.append((b"content-length", b"%d" % len(body)))
    headers += [(name.lower().encode(), value.encode()) for name, value in own.items()]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})


def _header(scope: Scope, name: bytes) -> str:
    return next((value.decode("latin1") for known, value in scope["headers"] if known == name), "")


def accepts_gzip(encodings: str) -> bool:
    """Whether ``Accept-Encoding`` names it, other than to refuse it."""
    parts = [one.replace(" ", "").lower().partition(";") for one in encodings.split(",")]
    return any(name == "gzip" and quality not in ("q=0", "q=0.0") for name, _, quality in parts)


async def _compressed(body: bytes) -> bytes:
    if len(body) < LEAST_IN_THREAD:
        return compress_string(body, max_random_bytes=RANDOM_BYTES)
    return await asyncio.to_thread(compress_string, body, max_random_bytes=RANDOM_BYTES)


@lru_cache(maxsize=16)
def _policy(quota: int) -> bytes:
    return f'"{POLICY}";q={quota};w={settings.REST_WINDOW_S}'.encode()


@lru_cache(maxsize=4)
def _hsts(seconds: int) -> tuple[tuple[bytes, bytes], ...]:
    if not seconds:
        return ()
    more = "; includeSubDomains" * settings.SECURE_HSTS_INCLUDE_SUBDOMAINS + "; preload" * settings.SECURE_HSTS_PRELOAD
    return ((b"strict-transport-security", f"max-age={seconds}{more}".encode()),)
