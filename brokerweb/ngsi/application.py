"""The ASGI application of both standards: permitted requests with a token are answered in the event loop.

All others go on to Django, whose ``views`` answer or refuse them. Counterpart: ``brokerweb.front.application``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from urllib.parse import parse_qsl

from django.db import DatabaseError
from rest_framework.exceptions import APIException

from brokerweb.api import errors
from brokerweb.api.answers import VERSION_HEADER
from brokerweb.front import event_loop
from brokerweb.front.access_control import UNKNOWN, AccessControl
from brokerweb.front.application import Application
from brokerweb.front.budgets import TooManyRequests
from brokerweb.front.principals import credentials
from brokerweb.front.replies import headers_of_error
from brokerweb.front.requests import Receive, Scope, Send, body_of, is_plain
from brokerweb.front.sending import headers_of, send_body
from brokerweb.ngsi.answers import Answer
from brokerweb.ngsi.requests import HEADERS, Request, parameters_of
from brokerweb.ngsi.standards import Standard, Target, respond, target_of
from overlay.core.errors import InvalidSetting

TOKEN = b"x-auth-token"
WITH_BODY = ("POST", "PUT", "PATCH")
_WANTED = {name.encode() for name in HEADERS} | {b"host", b"accept-encoding", VERSION_HEADER.lower().encode()}


class NgsiApplication:
    """``otherwise`` gets all other requests; ``limited`` wraps an application that reads bodies in their limits;
    ``access`` is that of all interfaces."""

    def __init__(
        self, otherwise: Application, limited: Callable[[Application], Application], access: AccessControl
    ) -> None:
        self._otherwise = otherwise
        self._limited = limited(self._with_body)
        self._access = access

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
            await (self._limited if asked.method in WITH_BODY else self._answer)(scope, receive, send)

    async def _permitted(self, scope: Scope, target: Target) -> Request | Answer | None:
        """The request without its body; ``None``: for Django to answer."""
        headers = {name.decode(): value.decode("latin1") for name, value in scope["headers"] if name in _WANTED}
        authorization, method = headers.get("authorization", ""), str(scope["method"])
        shown = credentials({"authorization": authorization}, target.network, target.is_write(method))
        if shown is None or not is_plain(scope, headers, _WANTED, has_body=method in WITH_BODY):
            return None
        scope["ngsi_sending"] = headers_of(scope.get("scheme", "http"), None), headers.get("accept-encoding", "")
        try:
            principal, seen = await self._access.principal(shown), await self._access.network(target.network)
            parameters = parameters_of(parse_qsl(scope["query_string"].decode(), keep_blank_values=True))
        except UNKNOWN as unknown:
            return _refused(target.standard, self._access.refusal(unknown, scope))
        except (DatabaseError, InvalidSetting, ValueError):
            return None
        if principal is None or seen is None or not seen.is_up:
            return None
        event_loop.use(asyncio.get_running_loop())
        budget = self._access.count(principal.who)
        scope["ngsi_sending"] = headers_of(scope.get("scheme", "http"), budget), headers.get("accept-encoding", "")
        if budget is not None and budget.is_exceeded:
            return _refused(target.standard, TooManyRequests(principal.who, budget))
        spend = partial(self._access.count, principal.who)
        return Request(method, target.base, target.path, parameters, headers, b"", seen, principal.who, spend)

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


def _refused(standard: Standard, error: APIException) -> Answer:
    status, body = errors.answer(error)
    return replace(standard.refused(status, body["sentence"]), headers=headers_of_error(error))


async def _send(answer: Answer, scope: Scope, send: Send) -> None:
    more, encodings = scope["ngsi_sending"]
    await send_body(answer.status, answer.media_type, answer.body, answer.headers, scope, send, more, encodings)
