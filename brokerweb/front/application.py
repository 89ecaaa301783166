"""The ASGI application of the data plane. What is not plain, or not permitted, goes on to Django unread."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar
from urllib.parse import parse_qsl, unquote_to_bytes

from django.conf import settings
from django.db import DatabaseError
from django.http.request import split_domain_port, validate_host
from rest_framework.exceptions import APIException, NotAuthenticated, ParseError

from brokerweb.api import errors
from brokerweb.api.answers import VERSION
from brokerweb.front import door
from brokerweb.front.batch import Batch, operations_of
from brokerweb.front.budgets import Budgets
from brokerweb.front.fresh import Fresh
from brokerweb.front.replies import Reply, reply
from brokerweb.front.sending import headers_of, send_reply
from brokerweb.front.service import BATCH, HEADERS, LIST, ONE, STREAM, Asked, Service, are_known, check_size
from brokerweb.front.sockets import Sockets
from brokerweb.front.stream_transports import EventStream
from brokerweb.front.streams import Listener, Streams
from brokerweb.front.visitors import Visitor, admit, credentials
from brokerweb.front.waiting import while_there
from brokerweb.kit import error_body, throttles
from brokerweb.kit.errors import NotAnswered, NotPossible
from brokerweb.networks import sight
from brokerweb.networks.sight import Sight
from brokerweb.operationlog.recording import recorded
from brokerweb.systems.contract import Key
from overlay.core.errors import InvalidSetting
from overlay.core.untrusted import Unreadable, read_json

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[..., Awaitable[None]]

T = TypeVar("T")

JSON = ("application/json", "application/json;charset=utf-8")
log = logging.getLogger(__name__)
MOST_VISITORS = 10_000
MOST_NETWORKS = 1_000
PARSED_HERE = 50_000
"""Bytes of a body that are parsed in the event loop; longer ones would hold up all other requests."""
SERVICE = Service()
METHODS = {ONE: ("GET", "HEAD", "PUT", "DELETE"), BATCH: ("POST",), LIST: ("GET", "HEAD"), STREAM: ("GET",)}
"""What is answered here, by what is named."""

_URL = re.compile(
    rb"/api/networks/([A-Za-z0-9_-]{1,20})/(?:(stream)|context(?:/(?:(batch)|([^/]+)/([^/]+)/([^/]+)))?)/"
)
_WANTED = {name.encode() for name in HEADERS} | {
    b"authorization",
    b"cookie",
    b"host",
    b"content-type",
    b"accept",
    b"api-version",
    b"transfer-encoding",
}


class Target(NamedTuple):
    """What a URL names."""

    network: str
    kind: str
    """As in ``Asked``."""
    key: Key | None = None


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
        self._visitors = Fresh(admit, MOST_VISITORS, clock)
        self._sights: Fresh[str, Sight | None] = Fresh(sight.look, MOST_NETWORKS, clock)
        self._budgets = Budgets()
        self.streams = Streams(SERVICE, self._visitors.get, self._sights.get)

    def with_sockets(self, otherwise: Application) -> Application:
        """Websockets of streams, ahead of all others."""
        return Sockets(self.streams, self._visitors.get, self._sights.get, otherwise)

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

    async def _permitted(self, scope: Scope, target: Target) -> Asked | Reply | None:
        """The request without its body; ``None``: for Django to answer."""
        method = "GET" if scope["method"] == "HEAD" else str(scope["method"])
        headers = {name.decode(): value.decode("latin1") for name, value in scope["headers"] if name in _WANTED}
        parameters = _parameters(scope["query_string"]) if scope["query_string"] else {}
        is_write = method != "GET"
        if parameters is None or not _is_plain(scope, headers, is_write=is_write):
            return None
        try:
            visitor, seen = await self._visitor(target, headers, is_write), await self._sights.get(target.network)
        except DatabaseError:
            return None
        # One that was down may have been started since it was looked at: Django looks now.
        if visitor is None or seen is None or not seen.is_up or (visitor.is_session and is_write):
            return None
        if parameters and not are_known(parameters, seen.system, target.kind, method):
            return None
        door.use(asyncio.get_running_loop())
        budget = self._budgets.count(f"{visitor.who}:context", settings.CONTEXT_RATE, time.time())
        more = headers_of(scope.get("scheme", "http"), budget)
        if budget is not None and budget.is_exceeded:
            refused, seconds = throttles.refusal(visitor.who, budget.reset_s)
            told = {name.decode(): value.decode() for name, value in more}
            return reply(429, refused, {"Retry-After": str(seconds), **told})
        here = f"{scope.get('scheme', 'http')}://{headers['host']}{scope['raw_path'].decode('latin1')}"
        return Asked(
            method, seen, visitor.who, target.kind, target.key, parameters, headers, here=here, headers_to_send=more
        )

    async def _stream(self, asked: Asked, scope: Scope, receive: Receive, send: Send) -> None:
        """Until it ends."""
        shown = credentials(asked.headers, asked.sight.network)
        visitor = shown and await self._visitors.get(shown)

        async def opened() -> Listener:
            if not shown or not visitor:
                raise NotAuthenticated
            return await self.streams.open(asked, visitor, shown)

        found = await _answer(opened())
        if isinstance(found, Reply):
            await _send(asked, found, scope, send)
        else:
            await found.run(EventStream(receive, send, list(asked.headers_to_send)))

    async def _visitor(self, target: Target, headers: Mapping[str, str], is_write: bool) -> Visitor | None:
        shown = credentials(headers, target.network, is_write)
        return None if shown is None else await self._visitors.get(shown)

    async def _with_body(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Within the limits for bodies."""
        asked: Asked | None = scope.get("asked")
        if asked is None:
            await self._otherwise(scope, receive, send)
            return
        raw = await body_of(receive)
        if raw is not None:
            await _send(asked, await _answer(self._written(asked, raw)), scope, send)

    async def _written(self, asked: Asked, raw: bytes) -> Reply:
        if asked.key is not None:
            check_size(raw)
        data = _parsed(raw) if len(raw) <= PARSED_HERE else await asyncio.to_thread(_parsed, raw)
        if asked.kind == BATCH and (further := operations_of(data) - 1) > 0:
            # One batch may pass the limit; the next request has to wait.
            self._budgets.count(f"{asked.who}:context", settings.CONTEXT_RATE, time.time(), further)
        return await answered(replace(asked, data=data, raw=raw))


@recorded
async def answered(asked: Asked) -> Reply:
    """The answer of the service of this process. Raises errors of services and of REST."""
    if asked.method == "GET":
        return await (SERVICE.list(asked) if asked.kind == LIST else SERVICE.get(asked))
    if asked.kind == BATCH:
        return await SERVICE.once(asked, Batch(SERVICE).post)
    return await SERVICE.once(asked, SERVICE.delete if asked.method == "DELETE" else SERVICE.put)


def target_of(scope: Scope) -> Target | None:
    """What the raw URL names; ``None`` for all that is no data plane, and for names that are not UTF-8.

    Decoded, an encoded slash in a name would look like a separator.
    """
    raw: bytes = scope.get("raw_path") or b""
    found = _URL.fullmatch(raw) if raw.startswith(b"/api/networks/") else None
    if found is None:
        return None
    network, is_stream, is_batch, *names = found.groups()
    kind = STREAM if is_stream else BATCH if is_batch else ONE if names[0] else LIST
    if scope["method"] not in METHODS[kind]:
        return None
    if kind != ONE:
        return Target(network.decode(), kind)
    try:
        first, second, third = (
            (unquote_to_bytes(name) if b"%" in name else name).decode() for name in names if name is not None
        )
    except UnicodeDecodeError:
        return None
    return Target(network.decode(), ONE, (first, second, third))


def _parameters(query: bytes) -> Mapping[str, str] | None:
    """Those of the query; ``None`` if it cannot be read, or wants another format."""
    try:
        given = dict(parse_qsl(query.decode(), keep_blank_values=True))
    except (UnicodeDecodeError, ValueError):
        return None
    if given.pop("format", "json") != "json":
        return None
    return given


def _is_plain(scope: Scope, headers: Mapping[str, str], *, is_write: bool) -> bool:
    """Whether Django would not redirect or refuse it, or combine headers."""
    if sum(name in _WANTED for name, _ in scope["headers"]) > len(headers):
        return False
    if not is_write and "transfer-encoding" in headers:
        return False
    if settings.SECURE_SSL_REDIRECT and scope.get("scheme") != "https":
        return False
    has_body = is_write and scope["method"] != "DELETE"
    if has_body and headers.get("content-type", "").lower().replace(" ", "") not in JSON:
        return False
    if headers.get("api-version", VERSION) != VERSION:
        return False
    return is_host(headers.get("host", ""), tuple(settings.ALLOWED_HOSTS))


@lru_cache(maxsize=64)
def is_host(host: str, allowed: tuple[str, ...]) -> bool:
    domain, _ = split_domain_port(host)
    return bool(domain) and validate_host(domain, allowed)


async def body_of(receive: Receive) -> bytes | None:
    """``None`` if the client is gone, or is refused by the limits around."""
    parts = []
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        parts.append(message.get("body", b""))
        if not message.get("more_body", False):
            return b"".join(parts)


def _parsed(raw: bytes) -> Any:
    """As ``brokerweb.api.parsers`` does it. Raises ``ParseError``, ``InvalidSetting``."""
    if not raw:
        return {}
    try:
        return read_json(raw.decode())
    except UnicodeDecodeError:
        raise ParseError("The body is not valid utf-8 text.") from None
    except Unreadable as error:
        if error.field:
            raise InvalidSetting(error.field, f"The body {error}.") from None
        raise ParseError(f"The body {error}.") from None


async def _answer(result: Awaitable[T]) -> T | Reply:
    """Its result, or the reply of its error."""
    try:
        return await result
    except (InvalidSetting, NotPossible, NotAnswered, APIException) as error:
        return reply(*errors.answer(error))
    except Exception:
        log.exception("a request on a network's context failed")
        return reply(500, error_body.body([("", "error", "Server Error (500)")]))


async def _send(asked: Asked, answer: Reply, scope: Scope, send: Send) -> None:
    encodings = asked.headers.get("accept-encoding", "") if asked.kind in (LIST, BATCH) else ""
    await send_reply(answer, scope, send, list(asked.headers_to_send), encodings)
