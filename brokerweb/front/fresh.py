"""Values that are read again after a second, once for all who wait for them."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from channels.db import database_sync_to_async

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

LASTS_S = 1.0
"""From the beginning of a look: what changes in the database is true here at most this much later."""


class Fresh(Generic[K, V]):
    """``read`` is called in a thread. The least used values beyond ``most`` are forgotten."""

    def __init__(self, read: Callable[[K], V], most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._read = database_sync_to_async(read, thread_sensitive=False)
        self._most = most
        self._clock = clock
        self._known: OrderedDict[K, tuple[float, V]] = OrderedDict()
        self._looks: dict[K, asyncio.Task[V]] = {}

    def is_known(self, key: K) -> bool:
        """Whether ``get`` needs no look."""
        known = self._known.get(key)
        return known is not None and self._clock() < known[0]

    async def get(self, key: K) -> V:
        """The value, read less than ``LASTS_S`` ago. Raises what ``read`` raises."""
        known = self._known.get(key)
        if known is not None and self._clock() < known[0]:
            return known[1]
        loop = asyncio.get_running_loop()
        look = self._looks.get(key)
        if look is None or look.get_loop() is not loop:
            look = self._looks[key] = loop.create_task(self._look(key))
        return await asyncio.shield(look)

    async def _look(self, key: K) -> V:
        until = self._clock() + LASTS_S
        try:
            value = await self._read(key)
        finally:
            self._looks.pop(key, None)
        self._known[key] = until, value
        self._known.move_to_end(key)
        while len(self._known) > self._most:
            self._known.popitem(last=False)
        return value
