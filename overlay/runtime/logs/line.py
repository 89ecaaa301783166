"""The log of one client in an event loop. Counterpart: ``overlay.runtime.line`` has a socket for datagrams."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from overlay.runtime.logs.port import LogPort
from overlay.runtime.stepping import Stepping


class LogLine(Stepping):
    """Drives a ``LogUser`` by its port."""

    def __init__(self, port: LogPort, on_step: Callable[[int], object]) -> None:
        """``on_step(now)`` is called after each step of the node, and may call it."""
        super().__init__()
        self._port, self._on_step = port, on_step
        self._watched: list[tuple[int, bool]] = []
        self._is_open = True

    @property
    def is_open(self) -> bool:
        return self._is_open

    async def leave(self) -> None:
        """Leave its groups, after what was appended and settled has been sent; a second at most."""
        if self._is_open:
            self._is_open = False
            self._unwatch()
            now = time.monotonic_ns()
            self._port.take(now)
            await asyncio.to_thread(self._port.close, now)
        self._stepped(None)

    def step(self) -> None:
        self._is_stepping_soon = False
        if not self._is_open:
            return
        self._unwatch()  # the port may close sockets, and get others with their numbers
        now = time.monotonic_ns()
        self._port.handle(now)
        self._port.feed(now)
        self._on_step(now)
        self._port.take(now)
        for descriptor, writes in self._port.descriptors():
            self._loop.add_reader(descriptor, self.step)
            if writes:
                self._loop.add_writer(descriptor, self.step)
            self._watched.append((descriptor, writes))
        self._stepped(self._port.next_timer())

    def _unwatch(self) -> None:
        for descriptor, writes in self._watched:
            self._loop.remove_reader(descriptor)
            if writes:
                self._loop.remove_writer(descriptor)
        self._watched.clear()
