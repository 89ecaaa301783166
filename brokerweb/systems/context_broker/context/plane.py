"""Store, query, list, follow and delete the context of a network through its brokers, for applications without them.

Counterparts: ``brokerweb.front`` calls it for REST, ``views`` for the page of a network;
``overlay.systems.context_broker.pool`` chooses the brokers. All in one event loop, without blocking it.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from channels.db import database_sync_to_async

from brokerweb.kit.errors import NotAnswered
from brokerweb.kit.moments import moment
from brokerweb.networks.snapshot import NetworkSnapshot, read_snapshot
from brokerweb.systems.context_broker.context import bodies, listing, rows
from brokerweb.systems.context_broker.context.answers import (
    NotThere,
    QueryResult,
    body_of,
    brokers_of,
    result_of,
    trace_id,
)
from brokerweb.systems.context_broker.context.bodies import Change
from brokerweb.systems.context_broker.context.following import Followings, NetworkFollowing
from brokerweb.systems.context_broker.context.holders import Holder, Holders
from brokerweb.systems.context_broker.context.rows import version
from brokerweb.systems.context_broker.context.selection import FILTERS, Selection, selection_of
from brokerweb.systems.context_broker.context.shapes import LONGEST_VALID_MS
from brokerweb.systems.context_broker.context.withdrawing import Withdrawing
from brokerweb.systems.context_broker.queries.of_networks import traced_one_in
from brokerweb.systems.contract import Absent, Held, How, Key, Listed, Taken
from overlay.core.addresses import Address, format_address
from overlay.core.errors import InvalidSetting, WireError
from overlay.programs.context_broker.client import NoAnswer, NotFound, Refused
from overlay.programs.context_broker.pool import Found, PoolClient, Stored
from overlay.programs.context_broker.withdrawals import Withdrawal
from overlay.systems.context_broker.clients.exchange import WallClock
from overlay.systems.context_broker.pool.pool import TooMany
from overlay.systems.context_broker.pool.stamps import EntryStamps

LATEST_S = 1.0
"""Timeout for the broker with a later value; after it, the older value is returned."""
MOST_NETWORKS = 64
"""Networks with open ports, the latest used."""
NO_PORTS = "All ports to the brokers of this network are in use. Try again later."


class ProviderEntry(NamedTuple):
    """An entry of one provider that may be withdrawn. Unix milliseconds."""

    timestamp: int
    until: int
    """The latest ValidEnd known."""


class ContextPlane:
    """The ports to all networks, and what is known of them. One per process."""

    operations = frozenset({"get", "put", "delete", "list", "stream"})
    names = ("type", "entity", "scope")
    longest_valid_ms = LONGEST_VALID_MS
    fields = rows.FIELDS
    filters = FILTERS
    of_delete = frozenset({"provider"})

    def __init__(self) -> None:
        self._wall = WallClock()
        self._stamps = EntryStamps(self._wall)
        self._holders = Holders()
        self._clients: OrderedDict[str, tuple[PoolClient, tuple[Address, ...]]] = OrderedDict()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._followings = Followings()
        self._withdrawing = Withdrawing(self._client, database_sync_to_async(read_snapshot, thread_sensitive=False))

    def start(self) -> None:
        self._enter()
        self._withdrawing.start()

    async def stop(self) -> None:
        self._close_all()

    def key(self, first: str, second: str, third: str) -> Key:
        return bodies.key_of(first, second, third)

    async def get(self, snapshot: NetworkSnapshot, key: Key, how: How) -> Held:
        asked = await self.ask(snapshot, bodies.key_of(*key), how)
        return Held(
            body_of(snapshot, asked), version(asked.found.timestamp, asked.found.provider), asked.found.timestamp
        )

    def read(self, key: Key, body: Any) -> Change:
        return bodies.read(bodies.key_of(*key), body)

    async def put(self, snapshot: NetworkSnapshot, change: Change, how: How) -> Taken:
        stored = await self.provide(snapshot, change, how)
        body = {
            "broker": format_address(stored.broker),
            "broker_index": snapshot.up[stored.broker]["index"],
            "valid_begin": bodies.text_of(moment(stored.last_ms)),
            "valid_end": bodies.text_of(moment(stored.last_ms + change.valid_ms)),
        }
        is_certain = stored.first_ms == stored.last_ms
        return Taken(body, version(stored.last_ms, change.provider) if is_certain else "")

    async def ask(self, snapshot: NetworkSnapshot, key: Key, how: How) -> QueryResult:
        """Query the chosen broker, or any. Raises ``Absent``, ``NotRunning``, ``NotAnswered``, ``InvalidSetting``."""
        async with self._ports(snapshot, how) as client:
            return await self._ask(client, snapshot, key, how)

    async def _ask(self, client: PoolClient, snapshot: NetworkSnapshot, key: Key, how: How) -> QueryResult:
        brokers = brokers_of(snapshot, how.server)
        one_in = traced_one_in(snapshot) if how.is_traced else 0
        is_chosen = how.server is not None
        holder = None if is_chosen else self._holder(snapshot, key)
        try:
            found = await client.ask(
                key,
                brokers,
                how.deadline_s,
                holder=holder and holder.broker,
                is_alone=is_chosen,
                trace_one_in=one_in,
            )
        except NotFound as error:
            raise NotThere(snapshot.network, trace_id(error.query, key, one_in)) from None
        except NoAnswer as error:
            raise NotAnswered(f"Broker {how.server} does not answer." if is_chosen else str(error)) from None
        except TooMany:
            raise NotAnswered(NO_PORTS) from None
        except WireError as error:
            raise InvalidSetting("entity", str(error)) from None
        if holder is not None and found.timestamp < holder.stamp_ms:
            found = await self._newest(client, key, found, holder)
        return result_of(snapshot, key, found, holder, one_in, is_chosen)

    async def provide(self, snapshot: NetworkSnapshot, change: Change, how: How) -> Stored:
        """Store context at the chosen broker, or at any. Raises like ``ask``, but for ``Absent``."""
        brokers = brokers_of(snapshot, how.server)
        known = None if how.server is not None else self._holder(snapshot, change.key)
        try:
            stored = await self._client(snapshot).provide(
                change.provider,
                change.key,
                change.payload,
                change.valid_ms,
                brokers,
                how.deadline_s,
                holder=known and known.broker,
                is_alone=how.server is not None,
            )
        except (Refused, WireError) as error:
            raise InvalidSetting("payload", str(error)) from None
        except NoAnswer as error:
            raise NotAnswered(str(error)) from None
        except TooMany:
            raise NotAnswered(NO_PORTS) from None
        until_ms = stored.first_ms + change.valid_ms
        process = snapshot.up[stored.broker].get("pid")
        holder = Holder(stored.broker, process, stored.first_ms, change.provider, until_ms)
        self._holders.note(snapshot.network, change.key, holder)
        self._note(snapshot, (stored.broker,))
        return stored

    async def delete(
        self,
        snapshot: NetworkSnapshot,
        key: Key,
        which: Mapping[str, str],
        how: How,
        check: Callable[[str | None, int], None],
    ) -> Taken:
        key, provider = bodies.key_of(*key), which.get("provider", "")
        brokers_of(snapshot, None)
        known = await self._known(snapshot, key, bodies.name("provider", provider) if provider else "", how)
        if not provider and len(known) > 1:
            raise InvalidSetting("provider", f"is needed, as there are several: {', '.join(sorted(known))[:200]}")
        provider = provider or next(iter(known), "")
        one = known.get(provider)
        check(version(one.timestamp, provider) if one else None, one.timestamp if one else 0)
        if one is None:
            raise NotThere(snapshot.network, "")
        return await self._withdraw(snapshot, key, provider, one)

    def selection(self, parameters: Mapping[str, str]) -> Selection:
        return selection_of(tuple(sorted((name, text) for name, text in parameters.items() if text)))

    async def list(self, snapshot: NetworkSnapshot, selection: Selection, after: str, most: int) -> Listed:
        following = await self.follow(snapshot)
        return await listing.page(following, snapshot, selection, after, most)

    async def follow(self, snapshot: NetworkSnapshot) -> NetworkFollowing:
        brokers_of(snapshot, None)
        self._enter()
        following = self._followings.start(snapshot)
        await following.refresh()
        return following

    async def check(self, snapshot: NetworkSnapshot, selection: Any, account: str, after: str) -> None:
        """Context that does not exist may come later."""

    def when_stored(self, stored: Callable[[str, Key], None]) -> None:
        self._followings.stored.append(stored)

    async def _withdraw(self, snapshot: NetworkSnapshot, key: Key, provider: str, known: ProviderEntry) -> Taken:
        """At all brokers, with one timestamp."""
        stamp = self._client(snapshot).stamp(provider, key, known.timestamp)
        try:
            told = await self._withdrawing.send(snapshot, Withdrawal(provider, key, stamp, known.until))
        except WireError as error:
            raise InvalidSetting("entity", str(error)) from None
        confirmed = [broker for broker, is_done in told.items() if is_done]
        if not confirmed:
            raise NotAnswered("No broker has confirmed the deletion. Send it again.")
        self._holders.forget(snapshot.network, key, provider, stamp)
        self._note(snapshot, confirmed)
        indexes = rows.indexes(snapshot)
        pending = sorted(indexes[broker] for broker, is_done in told.items() if not is_done)
        return Taken({"provider": provider, "deleted_at": bodies.text_of(moment(stamp)), "pending": pending}, "")

    async def _known(self, snapshot: NetworkSnapshot, key: Key, provider: str, how: How) -> Mapping[str, ProviderEntry]:
        """The entries of a key by provider: ``provider``'s, if it has one, and those of others that were met."""
        if provider and self._followings.get(snapshot.network) is None:
            found = await self._any(snapshot, key, how)
            if provider in found:  # one query instead of reading all tables
                return found
        self._enter()
        try:
            following = self._followings.start(snapshot)
        except NotAnswered:  # too many brokers to follow
            return await self._any(snapshot, key, how)
        following.note(*snapshot.addresses)
        await following.refresh()
        entries = following.view.about(key, time.time_ns() // 1_000_000)
        known = {
            entry.provider: ProviderEntry(entry.record.timestamp, following.view.latest_end(key, entry.provider))
            for entry in entries
        }
        if known and (not provider or provider in known):
            return known
        return {**await self._any(snapshot, key, how), **known}

    async def _any(self, snapshot: NetworkSnapshot, key: Key, how: How) -> dict[str, ProviderEntry]:
        """What a query finds."""
        try:
            found = (await self.ask(snapshot, key, How(how.deadline_s))).found
        except Absent:
            return {}
        return {found.provider: ProviderEntry(found.timestamp, found.valid_end)}

    def _note(self, snapshot: NetworkSnapshot, brokers: Iterable[Address]) -> None:
        """They have accepted a change."""
        following = self._followings.get(snapshot.network)
        if following is not None:
            following.note(*brokers)

    def _holder(self, snapshot: NetworkSnapshot, key: Key) -> Holder | None:
        """Who is known to have the latest value, and runs."""
        now = time.time_ns() // 1_000_000
        known = self._holders.of(snapshot.network, key, now)
        if known is not None and (
            known.broker not in snapshot.up or snapshot.up[known.broker].get("pid") != known.process
        ):
            known = None
        following = self._followings.get(snapshot.network)
        if following is None:
            return known
        for entry in following.view.about(key, now)[:1]:
            if known is None or entry.record.timestamp > known.stamp_ms:
                return following.holder(snapshot, entry) or known
        return known

    @staticmethod
    async def _newest(client: PoolClient, key: Key, found: Found, holder: Holder) -> Found:
        """``found``, or the later value of its holder, which another broker was faster than."""
        try:
            other = await client.ask(key, (holder.broker,), LATEST_S, is_alone=True)
        except (NotFound, NoAnswer, TooMany):  # it is down, and the later value is lost
            return found
        return max(found, other, key=lambda one: one.timestamp)

    @asynccontextmanager
    async def _ports(self, snapshot: NetworkSnapshot, how: How) -> AsyncIterator[PoolClient]:
        """Those of all requests; of a dry one its own, whose times and failures are forgotten with it."""
        if not how.is_dry:
            yield self._client(snapshot)
            return
        client = PoolClient(self._stamps, self._wall)
        client.keep(snapshot.addresses)
        try:
            yield client
        finally:
            client.close()

    def _client(self, snapshot: NetworkSnapshot) -> PoolClient:
        """The ports to this network, of the running event loop."""
        self._enter()
        known = self._clients.get(snapshot.network)
        client = known[0] if known else PoolClient(self._stamps, self._wall)
        if known is None or known[1] != snapshot.addresses:
            client.keep(snapshot.addresses)
            self._clients[snapshot.network] = client, snapshot.addresses
            while len(self._clients) > MOST_NETWORKS:
                self._clients.popitem(last=False)[1][0].close()
        self._clients.move_to_end(snapshot.network)
        return client

    def _enter(self) -> None:
        """What belongs to another event loop is closed."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._close_all()
            self._loop = loop

    def _close_all(self) -> None:
        self._followings.close()
        self._withdrawing.close()
        while self._clients:
            self._clients.popitem()[1][0].close()


PLANE = ContextPlane()
