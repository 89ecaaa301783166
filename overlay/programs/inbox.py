"""What has happened to a client, for programs that wait for it."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Generic, Self, TypeVar

MOST_WAITING = 10_000
"""Events of an inbox."""

E = TypeVar("E")


class Inbox(Generic[E]):
    """Events that wait for ``async for``: pass ``put`` as ``on_event``. Beyond ``most`` the oldest are dropped."""

    def __init__(self, most: int = MOST_WAITING) -> None:
        self.dropped = 0
        self._events: deque[E] = deque(maxlen=most)
        self._has_come = asyncio.Event()

    def put(self, event: E) -> None:
        self.dropped += len(self._events) == self._events.maxlen
        self._events.append(event)
        self._has_come.set()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> E:
        while not self._events:
            self._has_come.clear()
            await self._has_come.wait()
        return self._events.popleft()
