"""What the web process does when it starts and when it ends (ASGI, lifespan protocol)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Protocol

from brokerweb.front import event_loop

Message = MutableMapping[str, Any]


class Part(Protocol):
    """Something that runs in the event loop as long as the process."""

    def start(self) -> None: ...

    async def stop(self) -> None: ...


class Lifespan:
    """The application for scopes of the type ``lifespan``."""

    def __init__(self, *parts: Part) -> None:
        self._parts = parts

    async def __call__(
        self,
        scope: MutableMapping[str, Any],
        receive: Callable[[], Awaitable[Message]],
        send: Callable[[Message], Awaitable[None]],
    ) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                event_loop.use(asyncio.get_running_loop())
                for part in self._parts:
                    part.start()
                await send({"type": "lifespan.startup.complete"})
            else:
                for part in self._parts:
                    await part.stop()
                await send({"type": "lifespan.shutdown.complete"})
                return
