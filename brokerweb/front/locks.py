"""One change of a piece of context at a time, so that a condition is checked and acted on without another in between.

Holds for all changes through REST. Those that reach servers by UDP are not waited for.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager

from brokerweb.front.replies import Busy

MOST_WAITING = 64
"""Changes of the same piece that wait."""
LONGEST_S = 10.0
"""Longest wait."""
TOO_MANY = "Too many changes of the same data wait. Try again later."


class Locks:
    """Each exists while it is used."""

    def __init__(self) -> None:
        self._locks: dict[Hashable, tuple[asyncio.Lock, list[int]]] = {}

    @asynccontextmanager
    async def of(self, about: Hashable) -> AsyncIterator[None]:
        """Raises ``Busy``."""
        lock, users = self._locks.setdefault(about, (asyncio.Lock(), [0]))
        if users[0] > MOST_WAITING:
            raise Busy(TOO_MANY)
        users[0] += 1
        try:
            await _acquire(lock)
            try:
                yield
            finally:
                lock.release()
        finally:
            users[0] -= 1
            if not users[0]:
                del self._locks[about]


async def _acquire(lock: asyncio.Lock) -> None:
    if not lock.locked():
        await lock.acquire()
        return
    try:
        async with asyncio.timeout(LONGEST_S):
            await lock.acquire()
    except TimeoutError:
        raise Busy(TOO_MANY) from None
