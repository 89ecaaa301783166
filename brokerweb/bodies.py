"""Bodies of requests that are larger than any that means something, refused before Django reads them.

Django takes a body off the wire, and on to the disk, before the first of its middleware runs, whoever sent it.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from django.template.loader import render_to_string

from brokerweb.api.errors import body

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[..., Awaitable[None]]

STATUS = 413


class BodyLimit:
    """An ASGI application whose requests have bodies of at most ``limit`` bytes; 413 answers a larger one.

    One that says its length is refused unread. One sent in chunks is counted, and cut off where it becomes too large.
    The connection stays open: a client that is still sending would be reset, and never read why.
    """

    def __init__(self, application: Application, limit: int) -> None:
        self._application = application
        self._limit = limit

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if _length(scope) > self._limit:
            await self._refuse(scope, send)
            return
        read = 0

        async def counted() -> Message:
            nonlocal read
            message = await receive()
            read += len(message.get("body", b""))
            # Django takes it that the client has gone, and answers nothing.
            return {"type": "http.disconnect"} if read > self._limit else message

        await self._application(scope, counted, send)
        if read > self._limit:
            await self._refuse(scope, send)

    async def _refuse(self, scope: MutableMapping[str, Any], send: Send) -> None:
        sentence = f"The body is larger than {self._limit:,} bytes, the most that are read."
        if scope["path"].startswith("/api/"):
            kind, text = "application/json", json.dumps(body([("", "too_large", sentence)]))
        else:
            kind, text = "text/html; charset=utf-8", render_to_string("413.html", {"sentence": sentence})
        said = text.encode()
        headers = [(b"content-type", kind.encode()), (b"content-length", str(len(said)).encode())]
        await send({"type": "http.response.start", "status": STATUS, "headers": headers})
        await send({"type": "http.response.body", "body": said})


def _length(scope: MutableMapping[str, Any]) -> int:
    """What ``Content-Length`` says; 0 where it says nothing. The server has refused what is no number."""
    text = dict(scope["headers"]).get(b"content-length", b"0")
    return int(text) if text.isdigit() else 0
