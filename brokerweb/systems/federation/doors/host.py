"""The clients of all networks of federated brokers that applications use by way of HTTP, in one event loop.

Rows are what is wanted; every few seconds, and at once for a request, the clients are made what the rows say. So they
are taken up again when the web process starts, when a network starts, and after an error. One process hosts: the
holder of the lease.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

from django.db import DatabaseError
from django.utils import timezone

from brokerweb.front.replies import ENCODER
from brokerweb.kit.errors import NotPossible
from brokerweb.networks.snapshot import NetworkSnapshot, read_snapshot
from brokerweb.systems.federation.doors import lease, questions, rows
from brokerweb.systems.federation.doors.feed import ENDED, NOTIFICATION, Feed, Happened
from brokerweb.systems.federation.doors.hosted import Hosted, HostedConsumer, HostedProvider, hosted_of
from brokerweb.systems.federation.doors.problems import ERRORS, HostedElsewhere
from brokerweb.systems.federation.doors.rows import Due, Tally, in_thread
from brokerweb.systems.federation.doors.sending import Sender
from brokerweb.systems.federation.doors.sites import Place, place_of
from brokerweb.systems.federation.models import HostedSubscription, SubscriptionState
from overlay.systems.federation import notification_json
from overlay.systems.federation.clients.events import End, Offered, Queried
from overlay.systems.federation.wire.values import Notification

EVERY_S = lease.RENEWED_S
"""Between two looks at the rows, which renew the lease."""
FLUSH_S = 0.2
"""Until what happened is stored."""
IDLE_S = 60.0
"""An account's own consumer without subscriptions stays registered for so long after its last request."""
AT_ONCE = 16
"""Clients that register at once."""
STATES = {
    End.SATISFIED: SubscriptionState.SATISFIED,
    End.EXPIRED: SubscriptionState.EXPIRED,
    End.REFUSED: SubscriptionState.REFUSED,
}
log = logging.getLogger(__name__)


class Host:
    """``start`` and ``stop`` with the process; the coroutines may be called before, by processes without a loop of
    their own."""

    def __init__(self) -> None:
        self._me = lease.new_holder()
        self._hosted: dict[str, tuple[Hosted, Place]] = {}
        self._rows: dict[str, HostedSubscription] = {}
        """Active subscriptions that a broker has, or is about to have."""
        self._feeds: dict[str, Feed] = {}
        self._tallies: dict[str, Tally] = {}
        self._ended: list[tuple[str, SubscriptionState, str]] = []
        self._used: dict[str, float] = {}
        """When an account's own consumer was used, by client."""
        self._locks: dict[str, asyncio.Lock] = {}
        self._until = 0.0
        """The lease is held so long, time of the loop."""
        self._loop: asyncio.AbstractEventLoop | None = None

    # ---- its life

    def start(self) -> None:
        """In the running event loop."""
        self._loop = asyncio.get_running_loop()
        self._sender = Sender(self._sent)
        self._slots, self._taking = asyncio.Semaphore(AT_ONCE), asyncio.Lock()
        self._flush_timer: asyncio.TimerHandle | None = None
        self._task = self._loop.create_task(self._run())

    async def stop(self) -> None:
        if self._loop is None:
            return
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task
        await self._sender.stop()
        await self._close(list(self._hosted))
        await self._flush()
        await in_thread(lease.release)(self._me)
        self._feeds.clear()
        self._loop, self._until = None, 0.0

    async def _run(self) -> None:
        while True:
            try:
                if await in_thread(rows.is_any)() and await self._holds(renew=True):
                    await self._flush()
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
            taken = await in_thread(lease.take)(self._me, timezone.now())
            self._until = began + lease.LASTS.total_seconds() if taken else 0.0
            return taken

    async def hold(self) -> None:
        """Raises ``HostedElsewhere``."""
        if not await self._holds():
            raise HostedElsewhere

    # ---- what rows want

    async def look(self) -> None:
        """Make the clients what the rows say."""
        loop = asyncio.get_running_loop()
        self._used = {id: at for id, at in self._used.items() if at + IDLE_S > loop.time()}
        due: Sequence[Due] = await in_thread(rows.due)(timezone.now(), list(self._used))
        places = await self._places({one.client.network_id for one in due})
        wanted = {one.client.pk: one for one in due if places.get(one.client.network_id) is not None}
        stale = [
            id
            for id, (hosted, place) in self._hosted.items()
            if id not in wanted or places[hosted.row.network_id] != place
        ]
        await self._close(stale)
        for network in [name for name, feed in self._feeds.items() if name not in places and not feed.is_listened_to]:
            del self._feeds[network]
        for one in wanted.values():
            self._sender.spawn(self._settle(one, places[one.client.network_id]))

    async def _places(self, networks: set[str]) -> dict[str, Place | None]:
        """``None``: it does not run."""
        snapshots = [await in_thread(read_snapshot)(network) for network in networks]
        found: dict[str, Place | None] = {}
        for network, snapshot in zip(networks, snapshots, strict=True):
            with suppress(NotPossible):
                found[network] = place_of(snapshot)
        return {network: found.get(network) for network in networks}

    async def _settle(self, due: Due, place: Place | None) -> None:
        """In the background: what does not succeed is tried again at the next look."""
        known, lock = self._hosted.get(due.client.pk), self._lock(due.client.pk)
        if place is None or lock.locked() or (known is not None and known[0].is_settled(due)):
            return
        try:
            async with self._client(due, place) as hosted:
                # Read again: a request may have subscribed to more since.
                fresh = await in_thread(rows.one_due)(due.client.pk) or Due(due.client, ())
                self._rows |= {row.pk: row for row in fresh.subscriptions}
                for id, error in (await hosted.settle(fresh)).items():
                    self.ended(id, End.REFUSED, str(error))
        except ERRORS as error:
            log.warning("client %s could not be registered yet: %s", due.client.name, error)
        except Exception:
            log.exception("client %s could not be settled", due.client.name)

    def _lock(self, id: str) -> asyncio.Lock:
        return self._locks.setdefault(id, asyncio.Lock())

    @asynccontextmanager
    async def _client(self, due: Due, place: Place) -> AsyncIterator[Any]:
        """The client of a row, registered, to one user at a time. Raises ``ERRORS``."""
        row = due.client
        async with self._lock(row.pk):
            known = self._hosted.get(row.pk)
            if known is None:
                hosted = hosted_of(row, place.terms, place.site(row.pk, row.broker), self)
                async with self._slots:
                    await hosted.client.__aenter__()
                self._hosted[row.pk] = hosted, place
            yield self._hosted[row.pk][0]

    async def _close(self, ids: Sequence[str]) -> None:
        async def close(id: str) -> None:
            hosted, _ = self._hosted.pop(id)
            if isinstance(hosted, HostedConsumer):
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
        """The hosted client of a row. Raises ``ERRORS``, ``NotPossible``, ``HostedElsewhere``."""
        await self.hold()
        place = place_of(snapshot)
        due = await in_thread(rows.one_due)(id)
        if due is None:
            raise NotPossible("This client was just unregistered.")
        self._used[id] = asyncio.get_running_loop().time()
        async with self._client(due, place) as hosted:
            if isinstance(hosted, HostedProvider):
                await hosted.settle(due)
            yield hosted

    async def use(self, snapshot: NetworkSnapshot, id: str) -> Hosted:
        """The same without keeping others from it meanwhile."""
        async with self.client(snapshot, id) as hosted:
            found: Hosted = hosted
            return found

    async def subscribe(self, snapshot: NetworkSnapshot, client: str, wanted: Sequence[HostedSubscription]) -> None:
        """Returns once the broker has these rows. Raises as ``client``."""
        async with self.client(snapshot, client) as hosted:
            self._rows |= {row.pk: row for row in wanted}
            hosted.renew(wanted)
            await hosted.subscribe(wanted)

    async def withdraw(self, client: str, ids: Sequence[str]) -> None:
        """Rows that were removed."""
        await self.hold()
        for id in ids:
            self._rows.pop(id, None)
            self._sender.forget(id)
        known = self._hosted.get(client)
        if known is not None and isinstance(known[0], HostedConsumer):
            with suppress(*ERRORS):  # it is told again by itself
                await known[0].withdraw(ids)

    async def unregister(self, client: str) -> None:
        """A row that was removed."""
        await self.hold()
        if client in self._hosted:
            await self._close([client])

    async def position(self, network: str) -> str:
        """A stream that resumes behind this id has all that comes from now on."""
        feed = await self.feed(network)
        return feed.id_of(feed.last)

    async def feed(self, network: str) -> Feed:
        """Raises ``HostedElsewhere``."""
        await self.hold()
        return self._feeds.setdefault(network, Feed())

    # ---- what happens: implements ``hosted.Watcher``

    def notified(self, subscription: str, notification: Notification, *, is_cached: bool, hops: int) -> None:
        row = self._rows.get(subscription)
        if row is None:
            return
        told = notification_json.written(notification)
        body = {"subscription": subscription, "notification": told, "cached": is_cached, "hops": hops}
        self._feeds.setdefault(row.client.network_id, Feed()).add(
            Happened(NOTIFICATION, subscription, body), len(ENCODER.encode(told))
        )
        tally = self._tallies.setdefault(subscription, Tally())
        tally.notified += 1
        tally.last_notified = timezone.now()
        self._flush_soon()
        if row.url:
            self._sender.add(row, notification, told)

    def ended(self, subscription: str, end: End, words: str) -> None:
        row = self._rows.pop(subscription, None)
        if row is None or end not in STATES:
            return
        body = {"subscription": subscription, "end": str(end), "reason": words}
        self._feeds.setdefault(row.client.network_id, Feed()).add(Happened(ENDED, subscription, body), len(words))
        self._ended.append((subscription, STATES[end], words))
        self._flush_soon()

    def asked(self, provider: HostedProvider, event: Queried | Offered) -> None:
        questions.ask(self._sender, provider, event)

    def _sent(self, subscription: str, delivered: int, given_up: int, why: str) -> None:
        tally = self._tallies.setdefault(subscription, Tally())
        tally.delivered += delivered
        tally.given_up += given_up
        if why:
            tally.failure, tally.last_failure = why, timezone.now()
        self._flush_soon()

    # ---- storing it

    def _flush_soon(self) -> None:
        if self._flush_timer is None and self._loop is not None:
            self._flush_timer = self._loop.call_later(FLUSH_S, lambda: self._sender.spawn(self._flush()))

    async def _flush(self) -> None:
        """What the database refuses is kept for the next time."""
        self._flush_timer = None
        tallies, self._tallies = self._tallies, {}
        ended, self._ended = self._ended, []
        try:
            await in_thread(_store)(list(tallies.items()), ended)
        except DatabaseError as error:
            log.warning("counts of subscriptions were not stored yet: %s", error)
            self._ended = [*ended, *self._ended]
            self._tallies = {**self._tallies, **tallies}


def _store(tallies: Sequence[tuple[str, Tally]], ended: Sequence[tuple[str, SubscriptionState, str]]) -> None:
    rows.add(tallies)
    for id, state, why in ended:
        rows.end(id, state, why, timezone.now())


HOST = Host()
