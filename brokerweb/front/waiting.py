"""Requests that wait for data: they look again at growing intervals, and at once when it is stored through REST."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Hashable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from brokerweb.front.replies import Busy
from brokerweb.systems.contract import Absent

T = TypeVar("T")
Receive = Callable[[], Awaitable[Mapping[str, Any]]]

MOST = 1_000
MOST_OF_ONE = 100
"""Waiting requests of one account."""
FIRST_S, LONGEST_S, GROWTH = 0.1, 1.0, 1.5
"""Pauses between two looks: a search that finds nothing visits every broker."""


class Waiters:
    """Those of one process."""

    def __init__(self) -> None:
        self._of: Counter[str] = Counter()
        self._wake: dict[Hashable, set[asyncio.Future[None]]] = {}

    def stored(self, about: Hashable) -> None:
        """Data about this was stored."""
        for one in self._wake.pop(about, ()):
            if not one.done():
                one.set_result(None)

    async def until(self, look: Callable[[], Awaitable[T]], account: str, about: Hashable, seconds: float) -> T:
        """The first result of ``look`` that is not ``Absent``. Raises ``Absent`` after ``seconds``, and ``Busy``."""
        if self._of.total() >= MOST or self._of[account] >= MOST_OF_ONE:
            raise Busy("Too many requests wait for data. Try again later.")
        self._of[account] += 1
        try:
            return await self._look(look, about, asyncio.get_running_loop().time() + seconds)
        finally:
            self._of[account] -= 1
            self._of += Counter()  # drops zeros

    async def _look(self, look: Callable[[], Awaitable[T]], about: Hashable, end: float) -> T:
        loop, pause = asyncio.get_running_loop(), FIRST_S
        while True:
            woken = loop.create_future()
            self._wake.setdefault(about, set()).add(woken)  # before looking, so that nothing is missed in between
            try:
                return await look()
            except Absent:
                left = end - loop.time()
                if left <= 0:
                    raise
                with suppress(TimeoutError):
                    await asyncio.wait_for(woken, min(pause, left))
                pause = min(pause * GROWTH, LONGEST_S)
            finally:
                self._forget(about, woken)

    def _forget(self, about: Hashable, woken: asyncio.Future[None]) -> None:
        waiting = self._wake.get(about)
        if waiting is not None:
            waiting.discard(woken)
            if not waiting:
                del self._wake[about]


async def while_there(answer: Coroutine[Any, Any, T], receive: Receive) -> T | None:
    """The result; ``None`` if the client, of ``receive``, leaves before: then ``answer`` is cancelled."""
    answering, leaving = asyncio.create_task(answer), asyncio.create_task(_gone(receive))
    try:
        await asyncio.wait((answering, leaving), return_when=asyncio.FIRST_COMPLETED)
        return answering.result() if answering.done() else None
    finally:
        answering.cancel()
        leaving.cancel()
        await asyncio.wait((answering, leaving))


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
