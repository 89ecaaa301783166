"""The clients of an HTTP gateway: each is one of the server's, with a UDP port of its own. Everything runs in
one event loop. ``outlets`` are the ways in which clients receive; ``routes`` has the requests.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from http import HTTPStatus
from typing import Any

from overlay.core.address_policy import Network
from overlay.core.addresses import Address, format_address
from overlay.core.errors import WireError
from overlay.programs.radiator.clients import RETRY_S, Client, Clients
from overlay.programs.radiator.limits import Limits, Places
from overlay.programs.radiator.outlets import Callback, Port, Shared, Stream
from overlay.programs.radiator.posting import Callbacks
from overlay.programs.radiator.remembered import Bodies
from overlay.programs.radiator.requests import Call, Registration, Reported, Wrong
from overlay.programs.radiator.translation import push_document
from overlay.systems.radiator.chains.blobs import Opened, Place
from overlay.systems.radiator.config import Transport
from overlay.systems.radiator.middleware.calls import Result
from overlay.systems.radiator.middleware.membership import State
from overlay.systems.radiator.middleware.middleware import Misuse
from overlay.systems.radiator.wire import messages as m

SWEEP_S = 5.0


class Gateway:
    """The clients of one server. Methods raise ``Wrong``."""

    def __init__(
        self,
        server: Address,
        deadline_s: float = 10.0,
        limits: Limits | None = None,
        callback_networks: Sequence[Network] = (),
        transport: Transport | None = None,
    ) -> None:
        """``callback_networks`` are the private networks that callbacks may reach."""
        self.transport = transport or Transport()
        self.server, self.limits, self._deadline_s = server, limits or Limits(), deadline_s
        self.counts: Counter[str] = Counter()
        self.clients = Clients(self.limits, deadline_s, self.counts)
        self._places = Places(self.limits.calls_per_source)
        bodies, callbacks = Bodies(self.limits.body_bytes), Callbacks(callback_networks)
        self._shared = Shared(bodies, self.limits, self.counts, callbacks)

    async def close(self) -> None:
        """Unregister all clients, and wait until the server has answered or does not."""
        await self.clients.close()
        self._shared.callbacks.close()

    async def keep(self) -> None:
        """End leases, for ever."""
        while True:
            await asyncio.sleep(min(SWEEP_S, self.limits.lease_s / 2))
            self.clients.end_leases()

    def status(self) -> dict[str, Any]:
        """Current numbers and counters."""
        outlets = [client.outlet for client in self.clients]
        kinds = {"ports": Port, "event_streams": Stream, "callbacks": Callback}
        return {
            "server": format_address(self.server),
            "clients": len(self.clients),
            "clients_by_outlet": {name: sum(type(one) is kind for one in outlets) for name, kind in kinds.items()},
            "open_streams": self._open_streams(),
            "silent": sum(one is not None and one.is_silent for one in outlets),
            "waiting_pushes": sum(one.waiting() for one in outlets if one is not None),
            "body_bytes": self._shared.bodies.bytes,
            "counters": dict(sorted(self.counts.items())),
        }

    # ---- registration

    async def register(self, wanted: Registration, host: str, home: Address) -> dict[str, Any]:
        """``host`` registers, and reached the gateway at ``home``."""
        if wanted.callback is not None and (why := self._shared.callbacks.refusal(wanted.callback)):
            raise Wrong(HTTPStatus.BAD_REQUEST, f"callback: {why}")
        client = await self._client(wanted, host)
        async with client.lock:
            if not self.clients.has(client):
                raise Wrong(HTTPStatus.CONFLICT, "another client has this id")
            await self._admit(client, wanted, host, home)
        return self._admission(client)

    async def _client(self, wanted: Registration, host: str) -> Client:
        """The known one of this instance, or a new one. One that is not there any more gives up its id."""
        known = self.clients.get(wanted.id)
        if known is not None and known.instance != wanted.instance and known.outlet and known.outlet.is_silent:
            await self.clients.leave(known)
            known = self.clients.get(wanted.id)
        if known is not None and known.instance != wanted.instance:
            raise Wrong(HTTPStatus.CONFLICT, "another client has this id")
        if known is None:
            self.clients.check_room()
        client = known or self._new(wanted)
        try:
            self.clients.place(client, host)
        except Wrong:
            if known is None:
                client.line.close()
            raise
        return client

    def _new(self, wanted: Registration) -> Client:
        try:
            return Client(self.server, self.transport, wanted, self._relay, self._ended)
        except OSError as error:
            raise Wrong(HTTPStatus.SERVICE_UNAVAILABLE, f"no socket for another client: {error}", RETRY_S) from None

    async def _admit(self, client: Client, wanted: Registration, host: str, home: Address) -> None:
        """Register with the server. A new client that it does not admit is forgotten."""
        middleware, client.home = client.middleware, home
        try:
            if not await client.line.until(lambda: middleware.state is not State.REGISTERING, self._deadline_s):
                raise self._unanswered("an earlier registration")
            self._register_with_server(client, wanted)
            if not await client.line.until(lambda: client.code is not None, self._deadline_s):
                client.code = -1
            if client.code != m.Registration.OK:
                raise self._refusal(client.code)
        except Wrong:
            if not client.is_admitted:
                self.clients.forget(client)
            raise
        client.is_admitted = True
        self._connect(client, wanted, host)
        client.hear()
        self.counts["registrations"] += 1

    def _register_with_server(self, client: Client, wanted: Registration) -> None:
        ways = {"is_p2p": wanted.is_p2p, "is_http": True}
        try:
            client.middleware.register_client(wanted.id, _ignore, wanted.attributes, **ways, now=time.monotonic_ns())
        except Misuse as error:
            raise Wrong(HTTPStatus.BAD_REQUEST, str(error)) from None
        client.code = None

    def _refusal(self, code: int | None) -> Wrong:
        if code == m.Registration.COLLISION:
            return Wrong(HTTPStatus.CONFLICT, "another client at the gateway's address has this id")
        if code == m.Registration.FULL:
            return Wrong(HTTPStatus.SERVICE_UNAVAILABLE, "the server's table of clients is full", RETRY_S)
        if code == m.Registration.MALFORMED:
            return Wrong(HTTPStatus.BAD_REQUEST, "the server refused the registration as malformed")
        return self._unanswered("a registration")

    def _connect(self, client: Client, wanted: Registration, host: str) -> None:
        """Its outlet; one that it has already and still wants stays, with what waits in it."""
        old, shared = client.outlet, self._shared
        if wanted.port is not None:
            if not isinstance(old, Port) or old.address != (host, wanted.port):
                client.outlet = Port((host, wanted.port), shared, client.settle)
        elif wanted.callback is not None:
            if not isinstance(old, Callback) or old.url != wanted.callback:
                client.outlet = Callback(wanted.callback, client.source, shared, client.settle, client.hear)
        elif not isinstance(old, Stream):
            client.outlet = Stream(shared, client.settle)
        if old is not None and client.outlet is not old:
            old.close()

    def _admission(self, client: Client) -> dict[str, Any]:
        epoch, key = client.middleware.relayed.admission
        secret = {"secret": client.outlet.secret} if isinstance(client.outlet, Callback) else {}
        return {"epoch": epoch, "key": key.hex(), "lease_s": self.limits.lease_s, **secret}

    def _ended(self, client: Client) -> None:
        """The server has answered a registration, perhaps one that the middleware has renewed."""
        if client.code and client.code > 0 and client.is_admitted and not client.lock.locked():
            self.counts["refused_again"] += 1
            self.clients.forget(client)

    async def unregister(self, id: str, instance: int) -> None:
        await self.clients.leave(self.known(id, instance))

    # ---- requests of clients

    def known(self, id: str, instance: int) -> Client:
        client = self.clients.get(id)
        if client is None or client.instance != instance or not client.is_admitted:
            raise Wrong(HTTPStatus.NOT_FOUND, f"there is no client {id!r:.60} of this instance")
        client.hear()
        return client

    async def call(self, call: Call) -> str:
        """Send a context. A repeat with the same ``req`` has the first one's result: the server remembers it."""
        client = self.known(call.client, call.instance)
        if client.calls >= self.limits.calls:
            raise Wrong(HTTPStatus.TOO_MANY_REQUESTS, f"{client.calls} contexts of this client wait", 1)
        client.calls += 1
        try:
            async with self._places.one(client.source, self._deadline_s):
                return await self._call(client, call)
        except TimeoutError:
            sentence = "too many contexts of this address wait for the server"
            raise Wrong(HTTPStatus.TOO_MANY_REQUESTS, sentence, 1) from None
        finally:
            client.calls -= 1

    async def _call(self, client: Client, call: Call) -> str:
        now, middleware = time.monotonic_ns(), client.middleware
        try:
            sent = middleware.propagate_context(call.context.encode(), time.time_ns(), now, call.req)
        except Misuse as error:
            raise Wrong(HTTPStatus.NOT_FOUND, str(error)) from None
        has_ended = await client.line.until(
            lambda: sent.result is not Result.OPEN or sent.retry_ms > 0, self._deadline_s
        )
        if sent.result is Result.OPEN:
            middleware.give_up(sent, time.monotonic_ns())
            client.line.step()
        if not has_ended or sent.result is Result.NO_ANSWER:
            raise self._unanswered("a context")
        self.counts[f"contexts_{sent.result.replace(' ', '_')}"] += 1
        if sent.result is Result.ACCEPTED:
            client.has_called = True
            return str(sent.result)
        retry_s = -(-sent.retry_ms // 1_000) if sent.result in (Result.BUSY, Result.OVER_SHARE) else None
        status, sentence = _REFUSALS[sent.result]
        raise Wrong(status, sentence, retry_s)

    def report(self, reported: Reported) -> None:
        """What a client says of a chain: sent to the server, repeated until it is noted."""
        client = self.known(reported.client, reported.report.instance)
        if not client.middleware.report(reported.report, time.monotonic_ns()):
            raise Wrong(HTTPStatus.TOO_MANY_REQUESTS, "too many reports of this client wait for the server", 1)
        self.counts[f"reports_{type(reported.report).__name__.lower()}"] += 1
        client.line.step()

    def events(self, id: str, instance: int, last_event_id: str) -> tuple[Client, AsyncGenerator[bytes, None]]:
        """The client's events as they are written to a stream. A second stream ends the first one."""
        client = self.known(id, instance)
        if not isinstance(client.outlet, Stream):
            raise Wrong(HTTPStatus.CONFLICT, "this client registered with a port or a callback")
        if not client.outlet.is_open and self._open_streams() >= self.limits.streams:
            self.counts["streams_refused"] += 1
            raise Wrong(HTTPStatus.SERVICE_UNAVAILABLE, f"there are {self.limits.streams:,} streams", RETRY_S)
        return client, client.outlet.frames(last_event_id)

    def _open_streams(self) -> int:
        return sum(isinstance(one.outlet, Stream) and one.outlet.is_open for one in self.clients)

    def _unanswered(self, what: str) -> Wrong:
        self.counts["unanswered"] += 1
        return Wrong(HTTPStatus.GATEWAY_TIMEOUT, f"{format_address(self.server)} did not answer {what}")

    # ---- pushes

    def _relay(self, client: Client, push: m.Push, opened: Opened) -> bool:
        """Hand a push to the client's outlet. Returns whether it was taken."""
        if client.outlet is None:
            return False
        key = client.middleware.relayed.admission[1]
        try:
            return client.outlet.take(push, lambda: push_document(push, opened, key, self._place_of, client.home))
        except WireError:
            return False

    def _place_of(self, place: Place) -> Address | None:
        client = self.clients.get(place.id)
        if client is None or not isinstance(client.outlet, Port) or client.line.port != place.port:
            return None
        return client.outlet.address


def _ignore(context: Any, _: object) -> None:
    """Contexts are relayed, not delivered here."""


_REFUSALS = {
    Result.BUSY: (HTTPStatus.TOO_MANY_REQUESTS, "the server is busy"),
    Result.OVER_SHARE: (
        HTTPStatus.TOO_MANY_REQUESTS,
        "the server retains as many contexts of this client, or of its address, as their share allows",
    ),
    Result.MALFORMED: (HTTPStatus.BAD_REQUEST, "the server refused the context: malformed, or an old req"),
    Result.TOO_LARGE: (HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "the server refused the context: too large"),
    Result.UNKNOWN: (HTTPStatus.BAD_GATEWAY, "the server has restarted; it may have accepted the context before"),
    Result.UNREGISTERED: (HTTPStatus.NOT_FOUND, "the client was unregistered meanwhile"),
}
