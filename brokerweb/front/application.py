"""The ASGI application of the data plane. What is not plain, or not permitted, goes on to Django unread."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import TypeVar

from django.db import DatabaseError
from rest_framework.exceptions import APIException, NotAuthenticated

from brokerweb.front import event_loop
from brokerweb.front.access_control import UNKNOWN, AccessControl
from brokerweb.front.batch import Batch, operations_of
from brokerweb.front.budgets import TooManyRequests
from brokerweb.front.listeners import Listener
from brokerweb.front.principals import Principal, credentials
from brokerweb.front.replies import Reply, reply, reply_to
from brokerweb.front.requests import (
    PARSED_HERE,
    WANTED,
    Receive,
    Scope,
    Send,
    Target,
    body_of,
    is_answered_here,
    parameters_of,
    parsed,
    target_of,
)
from brokerweb.front.sending import headers_of, send_reply
from brokerweb.front.service import BATCH, LIST, STREAM, ContextRequest, Service, check_size, unknown_parameters
from brokerweb.front.sockets import Sockets
from brokerweb.front.stream_transports import EventStream
from brokerweb.front.streams import Streams
from brokerweb.front.waiting import while_there
from brokerweb.kit import error_body
from brokerweb.kit.errors import NotAnswered, NotPossible
from brokerweb.operationlog.recording import recorded
from overlay.core.errors import InvalidSetting

Application = Callable[..., Awaitable[None]]

T = TypeVar("T")

log = logging.getLogger(__name__)
SERVICE = Service()


class Front:
    """``otherwise`` is Django; ``limited`` wraps an application that reads bodies in the limits for these."""

    def __init__(
        self,
        otherwise: Application,
        limited: Callable[[Application], Application],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._otherwise = otherwise
        self._limited = limited(self._with_body)
        self.access = AccessControl(clock)
        self.streams = Streams(SERVICE, self.access.permitted, self.access.network)

    def with_sockets(self, otherwise: Application) -> Application:
        """Websockets of streams, ahead of all others."""
        return Sockets(self.streams, self.access, otherwise)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        target = target_of(scope)
        asked = target and await self._permitted(scope, target)
        if not asked:
            await self._limited(scope, receive, send)
        elif isinstance(asked, Reply):
            await send_reply(asked, scope, send, [])
        elif asked.kind == STREAM:
            await self._stream(asked, scope, receive, send)
        elif asked.method == "GET":
            answer = _answer(answered(asked))
            found = await (while_there(answer, receive) if "prefer" in asked.headers else answer)
            if found is not None:
                await _send(asked, found, scope, send)
        else:
            scope["asked"] = asked
            await self._limited(scope, receive, send)

    async def _permitted(self, scope: Scope, target: Target) -> ContextRequest | Reply | None:
        """The request without its body; ``None``: for Django to answer."""
        method = "GET" if scope["method"] == "HEAD" else str(scope["method"])
        headers = {name.decode(): value.decode("latin1") for name, value in scope["headers"] if name in WANTED}
        parameters = parameters_of(scope["query_string"]) if scope["query_string"] else {}
        is_write = method != "GET"
        if parameters is None or not is_answered_here(scope, headers):
            return None
        try:
            principal = await self._principal(target, headers, is_write)
            if principal is None:  # whoever has no account causes no look at a network
                return None
            seen = await self.access.network(target.network)
        except DatabaseError:
            return None
        except UNKNOWN as unknown:
            return reply_to(self.access.refusal(unknown, scope))
        # One that was down may have been started since it was looked at: Django looks now.
        if seen is None or not seen.is_up or (principal.is_session and is_write):
            return None
        if parameters and unknown_parameters(parameters, seen.system, target.kind, method):
            return None
        event_loop.use(asyncio.get_running_loop())
        budget = self.access.count(principal.who)
        more = headers_of(scope.get("scheme", "http"), budget)
        if budget is not None and budget.is_exceeded:
            told = {name.decode(): value.decode() for name, value in more}
            return reply_to(TooManyRequests(principal.who, budget), told)
        here = f"{scope.get('scheme', 'http')}://{headers['host']}{scope['raw_path'].decode('latin1')}"
        return ContextRequest(
            method,
            seen,
            principal.who,
            principal.account,
            target.kind,
            target.key,
            parameters,
            headers,
            here=here,
            headers_to_send=more,
        )

    async def _stream(self, asked: ContextRequest, scope: Scope, receive: Receive, send: Send) -> None:
        """Until it ends."""
        shown = credentials(asked.headers, asked.snapshot.network)

        async def opened() -> Listener:
            principal = shown and await self.access.permitted(shown)
            if not shown or not principal:
                raise NotAuthenticated
            return await self.streams.open(asked, principal, shown)

        found = await _answer(opened())
        if isinstance(found, Reply):
            await _send(asked, found, scope, send)
        else:
            await found.run(EventStream(receive, send, list(asked.headers_to_send)))

    async def _principal(self, target: Target, headers: Mapping[str, str], is_write: bool) -> Principal | None:
        shown = credentials(headers, target.network, is_write)
        return None if shown is None else await self.access.principal(shown)

    async def _with_body(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Within the limits for bodies."""
        asked: ContextRequest | None = scope.get("asked")
        if asked is None:
            await self._otherwise(scope, receive, send)
            return
        raw = await body_of(receive)
        if raw is not None:
            await _send(asked, await _answer(self._written(asked, raw)), scope, send)

    async def _written(self, asked: ContextRequest, raw: bytes) -> Reply:
        if asked.key is not None:
            check_size(raw)
        data = parsed(raw) if len(raw) <= PARSED_HERE else await asyncio.to_thread(parsed, raw)
        if asked.kind == BATCH and (further := operations_of(data) - 1) > 0:
            # One batch may pass the limit; the next request has to wait.
            self.access.count(asked.who, further)
        return await answered(replace(asked, data=data, raw=raw))


@recorded
async def answered(asked: ContextRequest) -> Reply:
    """The answer of the service of this process. Raises errors of services and of REST."""
    if asked.method == "GET":
        return await (SERVICE.list(asked) if asked.kind == LIST else SERVICE.get(asked))
    if asked.kind == BATCH:
        return await SERVICE.once(asked, Batch(SERVICE).post)
    return await SERVICE.once(asked, SERVICE.delete if asked.method == "DELETE" else SERVICE.put)


async def _answer(result: Awaitable[T]) -> T | Reply:
    """Its result, or the reply of its error."""
    try:
        return await result
    except (InvalidSetting, NotPossible, NotAnswered, APIException) as error:
        return reply_to(error)
    except Exception:
        log.exception("a request on a network's context failed")
        return reply(500, error_body.body([("", "error", "Server Error (500)")]))


async def _send(asked: ContextRequest, answer: Reply, scope: Scope, send: Send) -> None:
    encodings = asked.headers.get("accept-encoding", "") if asked.kind in (LIST, BATCH) else ""
    await send_reply(answer, scope, send, list(asked.headers_to_send), encodings)
