"""Server-sent events (WHATWG HTML, section 9.2) and websockets."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from brokerweb.api.answers import VERSION, VERSION_HEADER
from brokerweb.front.channels import Message
from brokerweb.front.replies import ENCODER

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

NORMAL = 1000
ENDED = 4000
"""Close code of a stream that the server ends, with the reason; an error adds its HTTP status."""
LONGEST_REASON = 123
"""Bytes of a reason (RFC 6455, section 5.5)."""


class EventStream:
    """As a response of type ``text/event-stream``."""

    headers = (
        (b"content-type", b"text/event-stream"),
        (VERSION_HEADER.lower().encode(), VERSION.encode()),
        (b"cache-control", b"no-cache, no-transform"),
        (b"vary", b"Authorization, Cookie"),
        (b"x-accel-buffering", b"no"),
        (b"x-content-type-options", b"nosniff"),
    )

    def __init__(self, receive: Receive, send: Send, headers: list[tuple[bytes, bytes]]) -> None:
        """``headers``: further ones."""
        self._receive = receive
        self._send = send
        self._more = headers

    async def begin(self) -> None:
        await self._send({"type": "http.response.start", "status": 200, "headers": [*self.headers, *self._more]})

    async def send(self, what: Message) -> None:
        await self._body(what.sse)

    async def beat(self, id: str) -> None:
        """A comment, and an id without an event, which a client stores."""
        await self._body(f": heartbeat\nid: {id}\n\n".encode())

    async def end(self, code: str, sentence: str) -> None:
        said = ENCODER.encode({"code": code, "sentence": sentence})
        await self._body(f"event: end\ndata: {said}\n\n".encode(), more=False)

    async def gone(self) -> None:
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def _body(self, body: bytes, *, more: bool = True) -> None:
        await self._send({"type": "http.response.body", "body": body, "more_body": more})


class Socket:
    """As a websocket, whose messages are ``{"events": [{"event", "id", "data"}, …]}``."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send

    async def begin(self) -> None:
        """It is accepted already: browsers see a close code only of an open connection."""

    async def send(self, what: Message) -> None:
        await self._send({"type": "websocket.send", "text": what.text})

    async def beat(self, id: str) -> None:
        said = {"events": [{"event": "heartbeat", "id": id, "data": {}}]}
        await self._send({"type": "websocket.send", "text": ENCODER.encode(said)})

    async def end(self, code: str, sentence: str) -> None:
        await self.close(ENDED, sentence)

    async def close(self, code: int, reason: str) -> None:
        cut = reason.encode()[:LONGEST_REASON].decode(errors="ignore")
        await self._send({"type": "websocket.close", "code": code, "reason": cut})

    async def gone(self) -> None:
        while (await self._receive())["type"] != "websocket.disconnect":
            pass
