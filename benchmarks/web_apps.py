"""Minimal ASGI applications that the front is compared with, served by uvicorn as the front is.

``dictionary`` answers from memory: what HTTP alone costs. ``through_redis`` asks the Redis in ``REDIS_URL`` for each
answer: what one more process behind HTTP costs, with its usual client.
"""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import redis.asyncio

Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]

ENTRY = {
    "provider": "sensor",
    "payload": {"degC": "21.5"},
    "text": "degC=21.5",
    "valid_begin": "2026-11-28T10:52:30.093000Z",
    "valid_end": "2026-11-28T12:32:30.093000Z",
    "age_ms": 1000,
    "broker": "127.0.0.1:40000",
    "broker_index": 0,
    "hops": 0,
    "strategy": "holder",
    "walk": None,
}
"""As large as an answer of the front."""
_ENTRIES = {"/r1": ENTRY}
_STORE: redis.asyncio.Redis | None = None


async def dictionary(scope: Message, receive: object, send: Send) -> None:
    """Any path of ``_ENTRIES``."""
    if scope["type"] == "http":
        await _send(json.dumps(_ENTRIES[scope["path"]]).encode(), send)


async def through_redis(scope: Message, receive: object, send: Send) -> None:
    """The same from Redis, which gets it at the first request."""
    global _STORE
    if scope["type"] != "http":
        return
    if _STORE is None:
        _STORE = redis.asyncio.Redis.from_url(os.environ["REDIS_URL"])
        await _STORE.set("/r1", json.dumps(ENTRY))
    found = await _STORE.get(scope["path"])
    await _send(found if isinstance(found, bytes) else b"", send)


async def _send(body: bytes, send: Send) -> None:
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})
