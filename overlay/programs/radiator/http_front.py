"""The gateway's HTTP server: how many connections there are, and of whom. ``connection`` has the protocol."""

from __future__ import annotations

import asyncio
import resource
import signal
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any
from weakref import WeakValueDictionary

from overlay.core.addresses import Address
from overlay.programs.radiator.connection import Connection
from overlay.programs.radiator.gateway import Gateway
from overlay.programs.radiator.limits import source_of
from overlay.programs.radiator.origins import Origins
from overlay.programs.radiator.routes import Routes

READ_AHEAD_BYTES = 16_384
SOCKETS = 16_384


class Front:
    """The connections of one gateway."""

    def __init__(self, gateway: Gateway, origins: Origins | None = None) -> None:
        """``origins`` are those of web pages that may use it; none by default."""
        self._limits = gateway.limits
        self._routes = Routes(gateway, self.status, origins)
        self._tasks: set[asyncio.Task[None]] = set()
        self._by_source: Counter[str] = Counter()
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self.counts: Counter[str] = Counter()

    @asynccontextmanager
    async def serving(self, listen: Address) -> AsyncIterator[Address]:
        """Serve at an address, whose port may be 0, until the block ends."""
        server = await asyncio.start_server(self._connected, *listen, limit=READ_AHEAD_BYTES)
        try:
            yield server.sockets[0].getsockname()[:2]
        finally:
            server.close()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def status(self) -> dict[str, Any]:
        return {"connections": len(self._tasks), "http": dict(sorted(self.counts.items()))}

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Not a coroutine, because Python 3.11 reports each one that is cancelled as an error."""
        limits, source = self._limits, source_of(writer.get_extra_info("peername")[0])
        if len(self._tasks) >= limits.connections or self._by_source[source] >= limits.connections_per_source:
            self.counts["connections_refused"] += 1
            writer.transport.abort()
            return
        task = asyncio.create_task(self._serve(reader, writer, self._turns.setdefault(source, asyncio.Lock())))
        self._tasks.add(task)
        self._by_source[source] += 1
        task.add_done_callback(partial(self._ended, source))

    def _ended(self, source: str, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._by_source[source] -= 1
        if not self._by_source[source]:
            del self._by_source[source]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, turns: asyncio.Lock) -> None:
        """The connection counts until its peer has read everything, or is cut off because it does not."""
        try:
            await Connection(self._routes, self._limits, self.counts, turns, reader, writer).serve()
            writer.close()
            async with asyncio.timeout(self._limits.write_s):
                await writer.wait_closed()
        except (OSError, TimeoutError):
            self.counts["connections_lost"] += 1
        finally:
            writer.transport.abort()


async def serve(gateway: Gateway, listen: Address, ready: Callable[[Address], object], origins: Origins) -> None:
    """Serve until SIGINT or SIGTERM; then unregister all clients. ``ready`` is called with the address."""
    _allow_many_sockets()
    is_over, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, is_over.set)
    keeper = asyncio.create_task(gateway.keep())
    try:
        async with Front(gateway, origins).serving(listen) as address:
            ready(address)
            await is_over.wait()
    finally:
        keeper.cancel()
        await gateway.close()


def _allow_many_sockets() -> None:
    """Each client has a socket, each connection and each push on its way one more."""
    few, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = SOCKETS if most == resource.RLIM_INFINITY else min(SOCKETS, most)
    if few != resource.RLIM_INFINITY and few < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
