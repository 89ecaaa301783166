"""Limits on the size, duration and number of request bodies, enforced before Django reads them.

Django reads a body to disk before its first middleware runs, whoever sent it. Responses and websockets are not limited
here.
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any

from django.template.loader import render_to_string

from brokerweb.kit.error_body import PROBLEM, body, problem, wants_problem
from brokerweb.kit.throttles import host_of

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[..., Awaitable[None]]

GONE = {"type": "http.disconnect"}
"""Django treats it as a client disconnect and sends no response."""
RETRY_S = 5


@dataclass(frozen=True)
class Limits:
    """``size`` in bytes and ``seconds`` apply to one body; ``at_once`` limits concurrent bodies, ``of_one_address``
    those of one client address.
    """

    size: int
    seconds: float
    at_once: int
    of_one_address: int


@dataclass(frozen=True)
class Refusal:
    """The response sent instead of Django's."""

    status: int
    code: str
    title: str
    sentence: str
    header: tuple[bytes, bytes] | None = None


AMBIGUOUS = Refusal(
    400,
    "ambiguous_length",
    "Ambiguous request",
    "The request has both Content-Length and Transfer-Encoding.",
    (b"connection", b"close"),
)


class BodyLimit:
    """ASGI middleware that limits request bodies: 413 if too large, 408 if too slow, 503 if too many at once, 400 if
    their end is ambiguous.

    A body with a Content-Length is refused unread. A chunked body is counted and cut off at the limit. The connection
    then stays open, because a client that is still sending would be reset before it reads the response. The connection
    of a slow body is closed.
    """

    def __init__(self, application: Application, limits: Limits) -> None:
        self._application = application
        self._limits = limits
        self._begun: Counter[str] = Counter()
        limit = f"{limits.size:,} bytes"
        self._too_large = Refusal(413, "too_large", "Request too large", f"The body exceeds the limit of {limit}.")
        self._too_slow = Refusal(
            408,
            "too_slow",
            "Request timeout",
            f"The body took longer than the limit of {limits.seconds:g} s.",
            (b"connection", b"close"),
        )
        self._too_many = Refusal(
            503,
            "too_many",
            "Too many requests",
            f"Too many concurrent request bodies. Try again in {RETRY_S} s.",
            (b"retry-after", str(RETRY_S).encode()),
        )

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if is_ambiguous(scope):
            await _refuse(AMBIGUOUS, scope, send)
            return
        if _length(scope) > self._limits.size:
            await _refuse(self._too_large, scope, send)
            return
        who = host_of((scope.get("client") or ("",))[0])
        due = asyncio.get_running_loop().time() + self._limits.seconds
        read, begun, ended = 0, False, False
        refused: Refusal | None = None

        async def bounded() -> Message:
            nonlocal read, begun, ended, refused
            if ended:
                return await receive()
            try:
                async with asyncio.timeout_at(due):
                    message = await receive()
            except TimeoutError:
                refused = self._too_slow
                return GONE
            read += len(message.get("body", b""))
            ended = not message.get("more_body", False)
            if read > self._limits.size:
                refused = self._too_large
            elif not ended and not begun:  # a body that arrived complete needs no slot
                begun = self._begin(who)
                refused = None if begun else self._too_many
            elif ended and begun:
                begun = False
                self._end(who)
            return GONE if refused else message

        try:
            await self._application(scope, bounded, send)
        finally:
            if begun:
                self._end(who)
        if refused:
            await _refuse(refused, scope, send)

    def _begin(self, who: str) -> bool:
        if self._begun.total() >= self._limits.at_once or self._begun[who] >= self._limits.of_one_address:
            return False
        self._begun[who] += 1
        return True

    def _end(self, who: str) -> None:
        self._begun[who] -= 1
        if not self._begun[who]:
            del self._begun[who]


async def _refuse(refusal: Refusal, scope: MutableMapping[str, Any], send: Send) -> None:
    if scope["path"].startswith("/api/"):
        kind, text = _as_json(refusal, scope)
    else:
        kind, text = "text/html; charset=utf-8", render_to_string("body_refused.html", {"refusal": refusal})
    said = text.encode()
    headers = [(b"content-type", kind.encode()), (b"content-length", str(len(said)).encode())]
    headers += [refusal.header] if refusal.header else []
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": said})


def _as_json(refusal: Refusal, scope: MutableMapping[str, Any]) -> tuple[str, str]:
    """Media type and text."""
    told = body([("", refusal.code, refusal.sentence)])
    if not wants_problem(dict(scope["headers"]).get(b"accept", b"").decode("latin-1")):
        return "application/json", json.dumps(told)
    return PROBLEM, json.dumps(problem(told, refusal.status, scope["path"]))


def is_ambiguous(scope: MutableMapping[str, Any]) -> bool:
    """Whether a proxy may have seen another end of the body, and taken what follows for it (RFC 9112, section 6.1)."""
    names = {name for name, _ in scope["headers"]}
    return b"content-length" in names and b"transfer-encoding" in names


def _length(scope: MutableMapping[str, Any]) -> int:
    """The ``Content-Length``; 0 if missing. The server has refused invalid values."""
    text = dict(scope["headers"]).get(b"content-length", b"0")
    return int(text) if text.isdigit() else 0
