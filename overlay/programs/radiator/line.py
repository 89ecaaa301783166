"""A socket, a clock and a timer for the middleware of one client of the gateway, in an event loop."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Callable
from contextlib import suppress

from overlay.core.addresses import Address
from overlay.core.node import SECOND, NodeEvent
from overlay.runtime.datagrams import MAX_DATAGRAM_BYTES
from overlay.systems.radiator.middleware.relayed import RelayedMiddleware

BATCH = 64
"""Datagrams of one client before others get their turn."""


class Line:
    """Receives from the server only. ``on_event`` is called with the events of the middleware."""

    def __init__(self, server: Address, middleware: RelayedMiddleware, on_event: Callable[[NodeEvent], None]) -> None:
        self._server, self._middleware, self._on_event = server, middleware, on_event
        self._loop = asyncio.get_running_loop()
        self._waiting: list[asyncio.Future[None]] = []
        self._is_stepping_soon = False
        self._timer: asyncio.TimerHandle | None = None
        self._sock = socket.socket(socket.AF_INET6 if ":" in server[0] else socket.AF_INET, socket.SOCK_DGRAM)
        try:
            self._sock.setblocking(False)
            self._sock.connect(server)
        except OSError:
            self._sock.close()
            raise
        self.port: int = self._sock.getsockname()[1]
        """As the server knows the client."""
        self._loop.add_reader(self._sock, self._readable)

    def close(self) -> None:
        if self._sock.fileno() >= 0:
            self._loop.remove_reader(self._sock)
            self._sock.close()
        self._cancel()
        self._wake()

    def step(self) -> None:
        """Do what is due, and send what there is. To be called after each call of the middleware."""
        self._is_stepping_soon = False
        if self._sock.fileno() < 0:
            return
        now = time.monotonic_ns()
        timer = self._middleware.next_timer()
        if timer is not None and timer <= now:
            self._middleware.handle_timer(now)
        for data, _ in self._middleware.datagrams_to_send():
            with suppress(OSError):  # it counts as lost, and is repeated
                self._sock.send(data)
        for event in self._middleware.events():
            self._on_event(event)
        self._wake()
        self._cancel()
        timer = self._middleware.next_timer()
        if timer is not None:
            self._timer = self._loop.call_later(max(0, timer - time.monotonic_ns()) / SECOND, self.step)

    def step_soon(self) -> None:
        """After what is being done now, which may be a call of the middleware."""
        if not self._is_stepping_soon:
            self._is_stepping_soon = True
            self._loop.call_soon(self.step)

    async def until(self, is_it: Callable[[], bool], seconds: float) -> bool:
        """Wait until something is so. Returns whether it was within ``seconds``."""
        self.step()
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while not is_it() and self._sock.fileno() >= 0:
                    waiting = self._loop.create_future()
                    self._waiting.append(waiting)
                    await waiting
        return is_it()

    def _readable(self) -> None:
        datagrams: list[tuple[bytes, Address]] = []
        with suppress(OSError):  # nothing more, or an earlier datagram was refused by the server's host
            while len(datagrams) < BATCH:
                datagrams.append((self._sock.recv(MAX_DATAGRAM_BYTES), self._server))
        self._middleware.receive_datagrams(datagrams, time.monotonic_ns())
        self.step()

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, []
        for one in waiting:
            if not one.done():
                one.set_result(None)

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
