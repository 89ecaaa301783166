"""What is stepped in an event loop, by its sockets and a timer, and waited for."""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress

from overlay.core.node import SECOND


class Stepping(ABC):
    """A subclass ends each ``step`` with ``_stepped``."""

    def __init__(self) -> None:
        """In a running event loop."""
        self._loop = asyncio.get_running_loop()
        self._waiting: list[asyncio.Future[None]] = []
        self._is_stepping_soon = False
        self._timer: asyncio.TimerHandle | None = None

    @property
    @abstractmethod
    def is_open(self) -> bool: ...

    @abstractmethod
    def step(self) -> None:
        """Do what is due, and send what there is. To be called after each call of what it drives."""

    def step_soon(self) -> None:
        """After what is being done now, which may be a call of what it drives."""
        if not self._is_stepping_soon:
            self._is_stepping_soon = True
            self._loop.call_soon(self.step)

    async def until(self, is_it: Callable[[], bool], seconds: float) -> bool:
        """Wait until something is so. Returns whether it was within ``seconds``."""
        self.step()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not is_it() and self.is_open:
                    waiting = self._loop.create_future()
                    self._waiting.append(waiting)
                    await waiting
        return is_it()

    def _stepped(self, timer: int | None) -> None:
        """Who waits looks again. ``timer``: when to step again at the latest, monotonic ns."""
        waiting, self._waiting = self._waiting, []
        for one in waiting:
            if not one.done():
                one.set_result(None)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if timer is not None and self.is_open:
            self._timer = self._loop.call_later(max(0, timer - time.monotonic_ns()) / SECOND, self.step)
