"""Requests of the HTTP gateway, by method and path. Counterpart: ``http_front`` has the connections.

::

    POST   /radiator/v1/clients       {id, instance, attributes, port | callback, p2p}    201, 409
    DELETE /radiator/v1/clients/ID?instance=                                              204, 404
    GET    /radiator/v1/clients/ID/events?instance=      server-sent events; Last-Event-ID resumes
    POST   /radiator/v1/contexts      {client, instance, req, context}                    202, 404, 413, 429
    POST   /radiator/v1/reports       {client, instance, epoch, propagation, chain, attempt, kind, position}    204
    GET    /radiator/v1/status
    OPTIONS of web pages whose origin is allowed                                          204, 403

Requests may have ``Content-Encoding: gzip``. Errors are ``{"error": sentence}``.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import parse_qs, unquote

from overlay.core.addresses import Address
from overlay.core.binary import canonical, read_untrusted
from overlay.core.errors import WireError
from overlay.programs.radiator import requests
from overlay.programs.radiator.clients import Client
from overlay.programs.radiator.gateway import Gateway
from overlay.programs.radiator.limits import Rates, source_of
from overlay.programs.radiator.origins import PREFLIGHT, Origins
from overlay.programs.radiator.requests import Wrong
from overlay.systems.radiator.context import MAX_DEPTH
from overlay.systems.radiator.wire.compression import GZIP, NONE, TooLarge, inflate

BASE = "/radiator/v1"
OVER_RATE_S = 1.0
"""Before a request beyond the rate is answered: refusing at once takes as long as what was asked for."""
FORWARDED = frozenset(("forwarded", "via", "x-forwarded-for", "x-real-ip"))
"""Headers of proxies. Pushes would go to the proxy's address, where others may listen."""
MOST_DEEP = MAX_DEPTH + 2
"""Of a request: a context is in a document."""
_CODECS = {"": NONE, "identity": NONE, "gzip": GZIP, "x-gzip": GZIP}


@dataclass(frozen=True, slots=True)
class Request:
    """``headers`` have names in lower case. ``source`` is the peer's host, ``home`` where it reached the gateway."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes
    source: str
    home: Address


@dataclass(frozen=True, slots=True)
class Answer:
    """``document`` becomes the body; ``None`` for none."""

    status: HTTPStatus
    document: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def body(self) -> bytes:
        return b"" if self.document is None else canonical(self.document)


class Streaming(NamedTuple):
    """The answer is frames of server-sent events, each of which is a sign of life of ``client`` once it was read."""

    client: Client
    frames: AsyncGenerator[bytes, None]
    headers: Mapping[str, str] = MappingProxyType({})


Handle = Callable[[Request], Awaitable[Answer | Streaming]]


def error(wrong: Wrong, **headers: str) -> Answer:
    if wrong.retry_s is not None:
        headers["Retry-After"] = str(max(1, wrong.retry_s))
    if wrong.allow:
        headers["Allow"] = ", ".join(wrong.allow)
    return Answer(wrong.status, {"error": str(wrong)}, headers)


class Routes:
    """Of one gateway. ``status`` gives further numbers of the front."""

    def __init__(
        self, gateway: Gateway, status: Callable[[], Mapping[str, Any]] = dict, origins: Origins | None = None
    ) -> None:
        self._gateway, self._status, self._origins = gateway, status, origins or Origins()
        self._rates = Rates(gateway.limits.requests_per_source)

    async def answer(self, request: Request) -> Answer | Streaming:
        try:
            if not self._rates.allows(source_of(request.source), time.monotonic()):
                await asyncio.sleep(OVER_RATE_S)
                raise Wrong(HTTPStatus.TOO_MANY_REQUESTS, "too many requests from this address in a second", 1)
            return await self._answer(request, self._origins.headers(request.headers))
        except Wrong as wrong:
            return error(wrong)

    async def _answer(self, request: Request, headers: Mapping[str, str]) -> Answer | Streaming:
        """With the ``headers`` for the web page that makes the request."""
        if headers and request.method == "OPTIONS":
            return Answer(HTTPStatus.NO_CONTENT, headers={**headers, **PREFLIGHT})
        try:
            answer = await self._handler(request)(request)
        except Wrong as wrong:
            answer = error(wrong)
        if isinstance(answer, Streaming):
            return answer._replace(headers=headers)
        return replace(answer, headers={**answer.headers, **headers})

    def _handler(self, request: Request) -> Handle:
        path = request.target.partition("?")[0]
        methods = self._find(path)
        if not methods:
            raise Wrong(HTTPStatus.NOT_FOUND, f"there is nothing at {path[:100]}; see {BASE}/status")
        if request.method not in methods:
            raise Wrong(HTTPStatus.METHOD_NOT_ALLOWED, f"use {' or '.join(methods)}", allow=tuple(methods))
        return methods[request.method]

    def _find(self, path: str) -> Mapping[str, Handle]:
        fixed = {
            f"{BASE}/clients": {"POST": self._register},
            f"{BASE}/contexts": {"POST": self._call},
            f"{BASE}/reports": {"POST": self._report},
            f"{BASE}/status": {"GET": self._show_status},
        }
        match path.removeprefix(f"{BASE}/clients/").split("/") if path.startswith(f"{BASE}/clients/") else []:
            case [_]:
                return {"DELETE": self._unregister}
            case [_, "events"]:
                return {"GET": self._events}
        return fixed.get(path, {})

    async def _register(self, request: Request) -> Answer:
        wanted = requests.read_registration(self._document(request))
        if wanted.port is not None and not FORWARDED.isdisjoint(request.headers):
            sentence = "port needs a direct connection, not one through a proxy; use events or a callback"
            raise Wrong(HTTPStatus.BAD_REQUEST, sentence)
        return Answer(HTTPStatus.CREATED, await self._gateway.register(wanted, request.source, request.home))

    async def _unregister(self, request: Request) -> Answer:
        await self._gateway.unregister(*_client_of(request))
        return Answer(HTTPStatus.NO_CONTENT)

    async def _events(self, request: Request) -> Streaming:
        return Streaming(*self._gateway.events(*_client_of(request), request.headers.get("last-event-id", "")))

    async def _call(self, request: Request) -> Answer:
        result = await self._gateway.call(requests.read_call(self._document(request)))
        return Answer(HTTPStatus.ACCEPTED, {"result": result})

    async def _report(self, request: Request) -> Answer:
        self._gateway.report(requests.read_report(self._document(request)))
        return Answer(HTTPStatus.NO_CONTENT)

    async def _show_status(self, request: Request) -> Answer:
        return Answer(HTTPStatus.OK, {**self._gateway.status(), **self._status()})

    def _document(self, request: Request) -> Mapping[str, Any]:
        return read_document(request.body, request.headers, self._gateway.limits.request_bytes)


def read_document(body: bytes, headers: Mapping[str, str], most: int) -> Mapping[str, Any]:
    """The JSON object of a request, of at most ``most`` bytes. Raises ``Wrong``."""
    codec = _CODECS.get(headers.get("content-encoding", "").strip().lower())
    if codec is None:
        raise Wrong(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "Content-Encoding must be gzip")
    try:
        value = read_untrusted(inflate(body, codec, most), MOST_DEEP)
    except TooLarge:
        sentence = f"inflated, a request has at most {most:,} bytes"
        raise Wrong(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, sentence) from None
    except WireError as wrong:
        raise Wrong(HTTPStatus.BAD_REQUEST, f"the body: {wrong}") from None
    if not isinstance(value, dict):
        raise Wrong(HTTPStatus.BAD_REQUEST, "the body must be a JSON object")
    return value


def _client_of(request: Request) -> tuple[str, int]:
    """Id and instance."""
    path, _, query = request.target.partition("?")
    id = unquote(path.removeprefix(f"{BASE}/clients/").partition("/")[0])
    return id, requests.read_instance(parse_qs(query).get("instance", [""])[0])
