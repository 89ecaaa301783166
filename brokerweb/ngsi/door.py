"""The ASGI application of both standards: permitted requests with a token are answered in the event loop.

All others go on to Django, whose ``views`` answer or refuse them. Counterpart: ``brokerweb.front.application``.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from urllib.parse import parse_qsl

from django.conf import settings
from django.db import DatabaseError

from brokerweb.api.answers import VERSION, VERSION_HEADER
from brokerweb.front import door
from brokerweb.front.application import Application, Receive, Scope, Send, body_of, is_host
from brokerweb.front.budgets import Budgets
from brokerweb.front.fresh import Fresh
from brokerweb.front.sending import ALWAYS, POLICY, headers_of
from brokerweb.front.visitors import admit, credentials
from brokerweb.kit.origin import own_id
from brokerweb.kit.throttles import Budget, refusal
from brokerweb.networks import sight
from brokerweb.networks.sight import Sight
from brokerweb.ngsi.answers import Answer
from brokerweb.ngsi.requests import HEADERS, Request, parameters_of
from brokerweb.ngsi.standards import Standard, Target, respond, target_of
from overlay.core.errors import InvalidSetting

TOKEN = b"x-auth-token"
MOST_VISITORS, MOST_NETWORKS = 10_000, 1_000
_WANTED = {name.encode() for name in HEADERS} | {b"host", VERSION_HEADER.lower().encode()}


class Door:
    """``otherwise`` gets all other requests; ``limited`` wraps an application that reads bodies in their limits."""

    def __init__(
        self,
        otherwise: Application,
        limited: Callable[[Application], Application],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._otherwise = otherwise
        self._limited = limited(self._with_body)
        self._visitors = Fresh(admit, MOST_VISITORS, clock)
        self._sights: Fresh[str, Sight | None] = Fresh(sight.look, MOST_NETWORKS, clock)
        self._budgets = Budgets()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        raw: bytes = scope.get("raw_path") or b""
        target = target_of(raw) if raw.startswith(b"/api/networks/") else None
        if target is None:
            await self._otherwise(scope, receive, send)
            return
        scope = with_token(scope)
        asked = await self._permitted(scope, target)
        if asked is None:
            await self._otherwise(scope, receive, send)
        elif isinstance(asked, Answer):
            await _send(asked, scope, send)
        else:
            scope["ngsi"] = target.standard, asked
            await (self._limited if asked.method in ("POST", "PUT", "PATCH") else self._answer)(scope, receive, send)

    async def _permitted(self, scope: Scope, target: Target) -> Request | Answer | None:
        """The request without its body; ``None``: for Django to answer."""
        headers = {name.decode(): value.decode("latin1") for name, value in scope["headers"] if name in _WANTED}
        authorization, method = headers.get("authorization", ""), str(scope["method"])
        shown = credentials({"authorization": authorization}, target.network, target.is_write(method))
        if shown is None or not _is_plain(scope, headers):
            return None
        if sum(name in _WANTED for name, _ in scope["headers"]) > len(headers):
            return None  # one is there twice; Django combines them
        try:
            visitor, seen = await self._visitors.get(shown), await self._sights.get(target.network)
            parameters = parameters_of(parse_qsl(scope["query_string"].decode(), keep_blank_values=True))
        except (DatabaseError, InvalidSetting, ValueError):
            return None
        if visitor is None or seen is None or not seen.is_up:
            return None
        door.use(asyncio.get_running_loop())
        spend = partial(self._spend, f"{visitor.who}:{POLICY}")
        budget = spend(1)
        scope["ngsi_headers"] = headers_of(scope.get("scheme", "http"), budget)
        if budget is not None and budget.is_exceeded:
            body, seconds = refusal(visitor.who, budget.reset_s)
            return replace(target.standard.refused(429, body["sentence"]), headers={"Retry-After": str(seconds)})
        return Request(method, target.base, target.path, parameters, headers, b"", seen, visitor.who, spend)

    def _spend(self, who: str, operations: int) -> Budget | None:
        """One batch may pass the limit; the next request has to wait."""
        return self._budgets.count(who, settings.CONTEXT_RATE, time.time(), operations)

    async def _with_body(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Within the limits for bodies."""
        standard, asked = scope["ngsi"]
        body = await body_of(receive)
        if body is not None:
            await _send(await respond(standard, replace(asked, body=body)), scope, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        found: tuple[Standard, Request] = scope["ngsi"]
        await _send(await respond(*found), scope, send)


def with_token(scope: Scope) -> Scope:
    """FIWARE's clients send their token in a header of its own."""
    names = {name for name, _ in scope["headers"]}
    token = next((value for name, value in scope["headers"] if name == TOKEN), None)
    if token is None or b"authorization" in names:
        return scope
    return {**scope, "headers": [*scope["headers"], (b"authorization", b"Bearer " + token)]}


def _is_plain(scope: Scope, headers: Mapping[str, str]) -> bool:
    """Whether Django would not redirect or refuse it."""
    if settings.SECURE_SSL_REDIRECT and scope.get("scheme") != "https":
        return False
    if headers.get(VERSION_HEADER.lower(), VERSION) != VERSION:
        return False
    return is_host(headers.get("host", ""), tuple(settings.ALLOWED_HOSTS))


async def _send(answer: Answer, scope: Scope, send: Send) -> None:
    headers = [*ALWAYS, *scope["ngsi_headers"], (b"x-request-id", own_id(_header(scope, b"x-request-id")).encode())]
    headers += [*((name.lower().encode(), value.encode()) for name, value in answer.headers.items())]
    if answer.body:
        headers.append((b"content-type", answer.media_type.encode()))
    if answer.status != 204:
        headers.append((b"content-length", b"%d" % len(answer.body)))
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else answer.body})


def _header(scope: Scope, name: bytes) -> str:
    return next((value.decode("latin1") for known, value in scope["headers"] if known == name), "")
