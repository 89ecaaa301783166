"""The limits of the HTTP gateway, and who a source is."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Self
from weakref import WeakValueDictionary

from overlay.systems.radiator.context import MAX_BYTES


@dataclass(frozen=True)
class Limits:
    """Times are in seconds. Beyond a limit a request is refused, with a status that says so."""

    clients: int = 1_000
    clients_per_source: int = 100
    requests_per_source: int = 200
    """Per second."""
    connections: int = 1_536
    """More than ``streams``, so that requests have room."""
    connections_per_source: int = 128
    streams: int = 1_024
    calls: int = 16
    """Contexts of one client that wait for the server."""
    calls_per_source: int = 16
    """At the server at once; further ones wait here. Those of another source are behind so many at most."""
    waiting: int = 16
    """Pushes on their way to the port of one client."""
    posts: int = 4
    """Of these at the same time."""
    events: int = 64
    """Remembered for a client that receives by events or callback."""
    body_bytes: int = 64 << 20
    """Of all pushes that wait or are remembered."""
    request_bytes: int = MAX_BYTES + 1_024
    """A context and what is around it, also when inflated."""
    head_bytes: int = 16_384
    request_s: float = 10.0
    """For a request to arrive, and for the next one on the same connection to begin."""
    write_s: float = 10.0
    """For a peer to read what it is sent."""
    push_s: float = 2.5
    """For the answer of a client's port; the server repeats a push for 3 s."""
    callback_s: float = 5.0
    callback_tries: int = 4
    callback_wait_s: float = 1.0
    """Before the second try; it doubles."""
    heartbeat_s: float = 15.0
    resume_s: float = 60.0
    """Events are kept for so long for a client without an open stream."""
    lease_s: float = 600.0
    """A client that is not heard of for so long is unregistered."""
    rest_s: float = 300.0
    """A client that has sent contexts and leaves counts as one of its address for so long. The server retains contexts
    that long by default, and gives each client a share: one that leaves and returns as another has no second one."""

    def with_clients_per_source(self, clients: int) -> Self:
        """And as many requests and connections as these need."""
        return replace(
            self,
            clients_per_source=clients,
            requests_per_source=max(self.requests_per_source, 2 * clients),
            calls_per_source=max(self.calls_per_source, clients // 8),
            connections_per_source=max(self.connections_per_source, clients + clients // 4),
        )


class Rates:
    """Requests of each source in the current second."""

    def __init__(self, most: int) -> None:
        self._most, self._second = most, 0
        self._counts: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._counts)

    def allows(self, source: str, now_s: float) -> bool:
        """Whether one more is within the limit; it is counted."""
        if int(now_s) != self._second:
            self._second = int(now_s)
            self._counts.clear()
        self._counts[source] += 1
        return self._counts[source] <= self._most


class Places:
    """At most ``most`` at once of each key; others wait, first come, first served."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._used: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    def __len__(self) -> int:
        return len(self._used)

    @asynccontextmanager
    async def one(self, key: str, seconds: float) -> AsyncIterator[None]:
        """Raises ``TimeoutError`` if none is free in time."""
        places = self._used.setdefault(key, asyncio.Semaphore(self._most))
        async with asyncio.timeout(seconds):
            await places.acquire()
        try:
            yield
        finally:
            places.release()


def source_of(host: str) -> str:
    """Whose limits apply to an address: its own, for IPv6 those of its /64, in which one owner chooses addresses."""
    address = ip_address(host.partition("%")[0])
    if isinstance(address, IPv6Address) and address.ipv4_mapped is None:
        return str(ip_network((address, 64), strict=False))
    return host
