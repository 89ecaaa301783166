"""The data plane's ASGI application of both standards: permitted requests with a token are answered in the event loop.
All others go on to Django, whose ``views`` refuse them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Application = Callable[..., Awaitable[None]]
TOKEN = b"x-auth-token"


class Door:
    """``otherwise`` gets all other requests."""

    def __init__(self, otherwise: Application) -> None:
        self._otherwise = otherwise

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        if b"/ngsi/" in (scope.get("raw_path") or b""):
            scope = with_token(scope)
        await self._otherwise(scope, receive, send)


def with_token(scope: Scope) -> Scope:
    """FIWARE's clients send their token in a header of its own."""
    names = {name for name, _ in scope["headers"]}
    token = next((value for name, value in scope["headers"] if name == TOKEN), None)
    if token is None or b"authorization" in names:
        return scope
    return {**scope, "headers": [*scope["headers"], (b"authorization", b"Bearer " + token)]}
