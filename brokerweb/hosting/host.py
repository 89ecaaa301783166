"""The clients of all networks of one system that applications use by way of HTTP, in one event loop.

Rows are what is wanted; every few seconds, and at once for a request, the clients are made what the rows say. So they
are taken up again when the web process starts, when a network starts, and after an error. One process hosts: the
holder of the lease.
"""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar

from django.db import DatabaseError
from django.utils import timezone

from brokerweb.hosting import lease
from brokerweb.hosting.feed import Feed
from brokerweb.hosting.history import Ending, History
from brokerweb.hosting.problems import HostedElsewhere
from brokerweb.hosting.rows import Tally, in_thread
from brokerweb.hosting.sending import Sender
from brokerweb.kit.errors import NotPossible
from brokerweb.networks.snapshot import NetworkSnapshot, read_snapshot

EVERY_S = lease.RENEWED_S
"""Between two looks at the rows, which renew the lease."""
IDLE_S = 60.0
"""A client that is needed only while it is used stays registered for so long after its last request."""
AT_ONCE = 16
"""Clients that register at once."""
log = logging.getLogger(__name__)
P = TypeVar("P")
"""Where clients register. Equal while they may stay registered as they are."""


class Due(NamedTuple):
    """A client that is to be hosted, with its active subscriptions."""

    client: Any
    """Its row: ``pk``, ``network_id``, ``owner_id``, ``name``."""
    subscriptions: Sequence[Any]
    """Their rows: ``pk``, ``client``, ``url``."""


class Hosted(Protocol):
    """A client at its broker."""

    row: Any
    client: Any
    """Registered while an ``async with`` block lasts."""

    @property
    def subscriptions(self) -> frozenset[str]: ...

    def is_settled(self, due: Due, place: Any) -> bool:
        """Whether it is what its rows say."""
        ...

    async def settle(self, due: Due, place: Any) -> Mapping[str, Exception]:
        """Make it so. Returns why subscriptions were refused, by id. Raises the errors of its ``Host``."""
        ...


class Host(ABC, Generic[P]):
    """``start`` and ``stop`` with the process; the coroutines may be called before, by processes without a loop of
    their own."""

    system: ClassVar[str]
    errors: ClassVar[tuple[type[Exception], ...]]
    """Of clients that cannot do what they are to do."""

    def __init__(self) -> None:
        self._me = lease.new_holder()
        self._hosted: dict[str, tuple[Any, P]] = {}
        self._rows: dict[str, Any] = {}
        """Active subscriptions that a broker has, or is about to have."""
        self._history = History(self.store)
        self._used: dict[str, float] = {}
        """When a client was used, by id."""
        self._locks: dict[str, asyncio.Lock] = {}
        self._until = 0.0
        """The lease is held so long, time of the loop."""
        self._loop: asyncio.AbstractEventLoop | None = None

    # ---- what a system says

    @abstractmethod
    def is_any(self) -> bool:
        """Whether there are rows of clients. Blocking, as are the next four."""

    @abstractmethod
    def states(self, network: str, account: str, ids: Collection[str]) -> Mapping[str, str]:
        """Of those of these subscriptions that the account has there: how each ended; empty: it has not."""

    @abstractmethod
    def due(self, now: datetime, used: Sequence[str]) -> Sequence[Due]:
        """All clients that are to be registered now; ``used`` are in use. Ends what has expired."""

    @abstractmethod
    def one_due(self, id: str) -> Due | None:
        """A client; ``None``: it is gone."""

    @abstractmethod
    def store(self, tallies: Sequence[tuple[str, Tally]], ended: Sequence[Ending]) -> None:
        """What became of subscriptions. Blocking."""

    @abstractmethod
    def place_of(self, snapshot: NetworkSnapshot | None) -> P:
        """Raises ``NotPossible`` if clients cannot register now."""

    @abstractmethod
    def hosted_of(self, row: Any, place: P) -> Hosted:
        """Not yet registered."""

    @abstractmethod
    def refused(self, id: str, error: Exception) -> None:
        """A broker has refused a subscription that was taken up again."""

    def sent(self, subscription: str, delivered: int, given_up: int, why: str) -> None:
        """So many of the oldest notifications that wait for its URL were; ``why`` they were not, or empty."""
        self._history.sent(subscription, delivered, given_up, why)

    async def prepare(self, hosted: Any, due: Due, place: P) -> None:
        """Before a request uses it."""

    # ---- its life

    def start(self) -> None:
        """In the running event loop."""
        self._loop = asyncio.get_running_loop()
        self._sender = Sender(self.sent)
        self._slots, self._taking = asyncio.Semaphore(AT_ONCE), asyncio.Lock()
        self._history.start(self._sender.spawn)
        self._task = self._loop.create_task(self._run())

    async def stop(self) -> None:
        if self._loop is None:
            return
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task
        await self._sender.stop()
        await self._close(list(self._hosted))
        await self._history.stop()
        await in_thread(lease.release)(self.system, self._me)
        self._loop, self._until = None, 0.0

    async def _run(self) -> None:
        while True:
            try:
                if await in_thread(self.is_any)() and await self._holds(renew=True):
                    await self._history.flush()
                    await self.look()
            except DatabaseError as error:
                log.warning("hosted clients could not be read yet: %s", error)
            except Exception:
                log.exception("hosted clients could not be settled")
            if not await self._is_holder() and self._hosted:
                await self._close(list(self._hosted))
            await asyncio.sleep(EVERY_S)

    async def _is_holder(self) -> bool:
        return self._until > asyncio.get_running_loop().time()

    async def _holds(self, *, renew: bool = False) -> bool:
        """Whether this process hosts, or begins to now."""
        if self._loop is None:
            self.start()
        loop = asyncio.get_running_loop()
        async with self._taking:
            if not renew and self._until > loop.time():
                return True
            began = loop.time()
            taken = await in_thread(lease.take)(self.system, self._me, timezone.now())
            self._until = began + lease.LASTS.total_seconds() if taken else 0.0
            return bool(taken)

    async def hold(self) -> None:
        """Raises ``HostedElsewhere``."""
        if not await self._holds():
            raise HostedElsewhere

    # ---- what rows want

    async def look(self) -> None:
        """Make the clients what the rows say."""
        loop = asyncio.get_running_loop()
        self._used = {id: at for id, at in self._used.items() if at + IDLE_S > loop.time()}
        due: Sequence[Due] = await in_thread(self.due)(timezone.now(), list(self._used))
        places = await self._places({one.client.network_id for one in due})
        wanted = {one.client.pk: one for one in due if places.get(one.client.network_id) is not None}
        stale = [
            id
            for id, (hosted, place) in self._hosted.items()
            if id not in wanted or places[hosted.row.network_id] != place
        ]
        await self._close(stale)
        self._history.forget_all_but(places)
        for one in wanted.values():
            self._sender.spawn(self._settle(one, places[one.client.network_id]))

    async def _places(self, networks: set[str]) -> dict[str, P | None]:
        """``None``: it does not run."""
        snapshots = [await in_thread(read_snapshot)(network) for network in networks]
        found: dict[str, P | None] = {}
        for network, snapshot in zip(networks, snapshots, strict=True):
            with suppress(NotPossible):
                found[network] = self.place_of(snapshot)
        return {network: found.get(network) for network in networks}

    async def _settle(self, due: Due, place: P | None) -> None:
        """In the background: what does not succeed is tried again at the next look."""
        known, lock = self._hosted.get(due.client.pk), self._lock(due.client.pk)
        if place is None or lock.locked() or (known is not None and known[0].is_settled(due, place)):
            return
        try:
            async with self._client(due, place) as hosted:
                # Read again: a request may have subscribed to more since.
                fresh = await in_thread(self.one_due)(due.client.pk) or Due(due.client, ())
                self._rows |= {row.pk: row for row in fresh.subscriptions}
                for id, error in (await hosted.settle(fresh, place)).items():
                    self.refused(id, error)
        except self.errors as error:
            log.warning("client %s could not be registered yet: %s", due.client.name, error)
        except Exception:
            log.exception("client %s could not be settled", due.client.name)

    def _lock(self, id: str) -> asyncio.Lock:
        return self._locks.setdefault(id, asyncio.Lock())

    @asynccontextmanager
    async def _client(self, due: Due, place: P) -> AsyncIterator[Any]:
        """The client of a row, registered, to one user at a time. Raises ``errors``."""
        row = due.client
        async with self._lock(row.pk):
            known = self._hosted.get(row.pk)
            if known is None:
                hosted = self.hosted_of(row, place)
                async with self._slots:
                    await hosted.client.__aenter__()
                self._hosted[row.pk] = hosted, place
            yield self._hosted[row.pk][0]

    async def _close(self, ids: Sequence[str]) -> None:
        async def close(id: str) -> None:
            hosted, _ = self._hosted.pop(id)
            for subscription in hosted.subscriptions:
                self._rows.pop(subscription, None)
            self._locks.pop(id, None)
            await hosted.client.__aexit__(None, None, None)

        for error in await asyncio.gather(*map(close, ids), return_exceptions=True):
            if isinstance(error, BaseException):
                log.warning("a hosted client did not close: %s", error)

    # ---- for requests

    @asynccontextmanager
    async def client(self, snapshot: NetworkSnapshot, id: str) -> AsyncIterator[Any]:
        """The hosted client of a row. Raises ``errors``, ``NotPossible``, ``HostedElsewhere``."""
        await self.hold()
        place = self.place_of(snapshot)
        due = await in_thread(self.one_due)(id)
        if due is None:
            raise NotPossible("This client was just unregistered.")
        self._used[id] = asyncio.get_running_loop().time()
        async with self._client(due, place) as hosted:
            await self.prepare(hosted, due, place)
            yield hosted

    async def use(self, snapshot: NetworkSnapshot, id: str) -> Any:
        """The same without keeping others from it meanwhile."""
        async with self.client(snapshot, id) as hosted:
            return hosted

    async def withdraw(self, client: str, ids: Sequence[str]) -> None:
        """Rows that were removed."""
        await self.hold()
        known = self._hosted.get(client)
        for id in ids:
            self._removed(id, known)
            self._sender.forget(id)
        if known is not None:
            with suppress(*self.errors):  # it is told again by itself
                await known[0].withdraw(ids)

    async def unregister(self, client: str) -> None:
        """A row that was removed, with its subscriptions."""
        await self.hold()
        known = self._hosted.get(client)
        for id in [row.pk for row in self._rows.values() if row.client_id == client]:
            self._removed(id, known)
        if known is not None:
            await self._close([client])

    def _removed(self, subscription: str, of: tuple[Any, P] | None) -> None:
        if self._rows.pop(subscription, None) is not None and of is not None:
            self._history.removed(of[0].row, subscription)

    async def position(self, network: str) -> str:
        """A stream that resumes behind this id has all that comes from now on."""
        feed = await self.feed(network)
        return feed.id_of(feed.last)

    async def feed(self, network: str) -> Feed:
        """Raises ``HostedElsewhere``."""
        await self.hold()
        return self._history.feed(network)
