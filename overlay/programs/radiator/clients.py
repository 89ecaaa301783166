"""The clients of the gateway: who they are, how many there may be, and how they leave. Counterpart: ``gateway``."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterator
from http import HTTPStatus

from overlay.core.addresses import Address
from overlay.core.node import NodeEvent
from overlay.programs.radiator.limits import Limits, source_of
from overlay.programs.radiator.outlets import Outlet, Port
from overlay.programs.radiator.requests import Registration, Wrong
from overlay.programs.radiator.translation import NOWHERE
from overlay.runtime.line import Line
from overlay.systems.radiator.chains.blobs import Opened
from overlay.systems.radiator.config import Transport
from overlay.systems.radiator.middleware.middleware import Misuse, RegistrationEnded
from overlay.systems.radiator.middleware.relayed import RelayedMiddleware
from overlay.systems.radiator.wire import messages as m

RETRY_S = 30
"""When a table is full."""


class Client:
    """A client of the gateway. ``relay`` hands its pushes on; ``on_ended`` is called when a registration has ended."""

    def __init__(
        self,
        server: Address,
        transport: Transport,
        wanted: Registration,
        relay: Callable[[Client, m.Push, Opened], bool],
        on_ended: Callable[[Client], None],
    ) -> None:
        """Raises ``OSError`` if there is no socket for it."""
        self.id, self.instance, self.source = wanted.id, wanted.instance, ""
        self._on_ended = on_ended
        self.middleware = RelayedMiddleware(
            transport, inner_instance(wanted), lambda push, opened: relay(self, push, opened)
        )
        self.middleware.setup(server)
        self.line = Line(self.middleware, self._note, server)
        self.outlet: Outlet | None = None
        self.home = NOWHERE
        self.code: int | None = None
        """Of the last registration that has ended; ``None`` while one is under way."""
        self.is_admitted = self.has_called = False
        self.lock = asyncio.Lock()
        self.calls = 0
        self.heard_at = time.monotonic()

    def hear(self) -> None:
        """It has made a request, reads its events, or has taken a push."""
        self.heard_at = time.monotonic()
        self.middleware.hear(time.monotonic_ns())
        self.line.step_soon()
        if self.outlet is not None:
            self.outlet.is_silent = False

    def settle(self, push: m.Push, is_received: bool) -> None:
        if is_received and isinstance(self.outlet, Port):
            self.hear()
        self.middleware.settle(push, time.monotonic_ns(), is_received=is_received)
        self.line.step_soon()

    def _note(self, event: NodeEvent) -> None:
        if isinstance(event, RegistrationEnded):
            self.code = event.code
            self._on_ended(self)


def inner_instance(wanted: Registration) -> int:
    """As the server knows it, for which instances at one IP address must differ, also those of clients that take 1."""
    text = f"{wanted.instance}:{wanted.id}".encode()
    return int.from_bytes(hashlib.blake2s(text, digest_size=8).digest(), "big")


class Clients:
    """The table, by id."""

    def __init__(self, limits: Limits, deadline_s: float, counts: Counter[str]) -> None:
        """A client that leaves waits ``deadline_s`` for the server."""
        self._limits, self._deadline_s, self._counts = limits, deadline_s, counts
        self._clients: dict[str, Client] = {}
        self._by_source: Counter[str] = Counter()
        """Also those that rest."""
        self._resting: dict[tuple[str, int], tuple[float, str]] = {}
        """Until when clients that have left count, by id and instance, and of which source they are."""
        self._leaving: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return len(self._clients)

    def __iter__(self) -> Iterator[Client]:
        return iter(self._clients.values())

    def get(self, id: str) -> Client | None:
        return self._clients.get(id)

    def has(self, client: Client) -> bool:
        return self._clients.get(client.id) is client

    def check_room(self) -> None:
        """Raises ``Wrong``."""
        if len(self._clients) >= self._limits.clients:
            self._counts["clients_refused"] += 1
            raise Wrong(HTTPStatus.SERVICE_UNAVAILABLE, f"there are {self._limits.clients:,} clients", RETRY_S)

    def place(self, client: Client, host: str) -> None:
        """Add a client that is new, or note where a known one is now. Raises ``Wrong`` if there are too many there."""
        source, limits = source_of(host), self._limits
        self._end_rests()
        rest = self._resting.get((client.id, client.instance))
        if source != client.source:
            its_own = rest is not None and rest[1] == source
            if self._by_source[source] - its_own >= limits.clients_per_source:
                self._counts["clients_refused"] += 1
                sentence = f"there are {limits.clients_per_source:,} clients of this address"
                sentence += f", with those that sent contexts and left within {limits.rest_s:,g} s"
                raise Wrong(HTTPStatus.TOO_MANY_REQUESTS, sentence, RETRY_S)
            self._leave_source(client.source)
            client.source = source
            self._by_source[source] += 1
        self._clients[client.id] = client
        if rest is not None:
            client.has_called = True
            self._end_rest((client.id, client.instance))

    # ---- leaving

    def forget(self, client: Client) -> None:
        """The server does not have it."""
        self._remove(client)
        client.line.close()

    async def leave(self, client: Client) -> None:
        """Its id is free at once; the server is told."""
        if not self._remove(client):
            return
        try:
            client.middleware.unregister_client(client.id, time.monotonic_ns())
            await client.line.until(lambda: client.middleware.is_closed, self._deadline_s)
        except Misuse:
            return  # the server has refused it meanwhile
        finally:
            client.line.close()

    def end_leases(self) -> None:
        """Of clients that were not heard of for too long."""
        over = time.monotonic() - self._limits.lease_s
        for client in [one for one in self if one.heard_at < over and not one.lock.locked()]:
            self._counts["leases_over"] += 1
            self._begin_to_leave(client)

    async def close(self) -> None:
        for client in list(self):
            self._begin_to_leave(client)
        await asyncio.gather(*self._leaving)

    def _begin_to_leave(self, client: Client) -> None:
        task = asyncio.create_task(self.leave(client))
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)

    def _remove(self, client: Client) -> bool:
        """Returns whether it was there."""
        if not self.has(client):
            return False
        del self._clients[client.id]
        if client.has_called:
            self._rest(client)
        else:
            self._leave_source(client.source)
        if client.outlet is not None:
            client.outlet.close()
        return True

    def _rest(self, client: Client) -> None:
        self._resting[client.id, client.instance] = time.monotonic() + self._limits.rest_s, client.source
        if len(self._resting) > self._limits.clients:
            self._end_rest(next(iter(self._resting)))

    def _end_rests(self) -> None:
        """Those that are over: the first ones, since all rest as long."""
        now = time.monotonic()
        while self._resting and next(iter(self._resting.values()))[0] <= now:
            self._end_rest(next(iter(self._resting)))

    def _end_rest(self, key: tuple[str, int]) -> None:
        self._leave_source(self._resting.pop(key)[1])

    def _leave_source(self, source: str) -> None:
        self._by_source[source] -= 1
        if self._by_source[source] <= 0:
            del self._by_source[source]
