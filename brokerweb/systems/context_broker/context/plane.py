"""Store and query the context of a network through its brokers, for applications that know none of them.

Counterparts: ``brokerweb.front`` calls it for REST, ``views`` for the page of a network;
``overlay.systems.context_broker.pool`` chooses the brokers. All in one event loop, without blocking it.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from brokerweb.kit.errors import NotAnswered, NotPossible
from brokerweb.kit.moments import moment
from brokerweb.networks.sight import Sight
from brokerweb.systems.context_broker.context import bodies
from brokerweb.systems.context_broker.context.bodies import Change
from brokerweb.systems.context_broker.context.holders import Holder, Holders
from brokerweb.systems.context_broker.context.shapes import LONGEST_VALID_MS
from brokerweb.systems.context_broker.queries.of_networks import is_traced, trace_of, traced_one_in
from brokerweb.systems.contract import Absent, Held, How, Key, Taken
from overlay.core.addresses import Address, format_address
from overlay.core.errors import InvalidSetting, WireError
from overlay.programs.context_broker.client import NoAnswer, NotFound, QueryName, Refused
from overlay.programs.context_broker.pool import Found, PoolClient, Stored
from overlay.systems.context_broker.clients.exchange import WallClock
from overlay.systems.context_broker.clients.payload import parse_pairs
from overlay.systems.context_broker.pool.pool import TooMany
from overlay.systems.context_broker.pool.stamps import EntryStamps

LATEST_S = 1.0
"""Timeout for the broker with a later value; after it, the older value is returned."""
MOST_NETWORKS = 64
"""Networks with open ports, the latest used."""
MISSING = "No broker of this network has valid data for this entity and scope."


class NotRunning(NotPossible):
    """No broker of the network can answer now."""


class NotThere(Absent):
    """No broker that was asked has it. ``trace`` is the id of the walk; empty if it was not traced."""

    def __init__(self, network: str, trace: str) -> None:
        super().__init__(f"{MISSING} Its walk: {walk_of(network, trace)}" if trace else MISSING)
        self.trace = trace


@dataclass(frozen=True, slots=True)
class Asked:
    """The result of a query."""

    found: Found
    broker_index: int
    strategy: str
    """``chosen``: the broker that was named; ``holder``: one known to have it; ``walk``: the first of the entity's
    order; ``next``: a later one; ``hedged``: one that was asked while the first was silent."""
    hops: int | None
    """0 if the broker has it; ``None`` if only a trace can say."""
    trace: str
    """The id of its walk; empty if it was not traced."""


class ContextPlane:
    """The ports to all networks, and what is known of them. One per process."""

    operations = frozenset({"get", "put"})
    names = ("type", "entity", "scope")
    longest_valid_ms = LONGEST_VALID_MS

    def __init__(self) -> None:
        self._wall = WallClock()
        self._stamps = EntryStamps(self._wall)
        self._holders = Holders()
        self._clients: OrderedDict[str, tuple[PoolClient, tuple[Address, ...]]] = OrderedDict()
        self._loop: asyncio.AbstractEventLoop | None = None

    def key(self, first: str, second: str, third: str) -> Key:
        return bodies.key_of(first, second, third)

    async def get(self, sight: Sight, key: Key, how: How) -> Held:
        asked = await self.ask(sight, bodies.key_of(*key), how)
        return Held(_body(sight, asked), _version(asked.found.timestamp, asked.found.provider), asked.found.timestamp)

    def read(self, key: Key, body: Any) -> Change:
        return bodies.read(bodies.key_of(*key), body)

    async def put(self, sight: Sight, change: Change, how: How) -> Taken:
        stored = await self.provide(sight, change, how)
        body = {
            "broker": format_address(stored.broker),
            "broker_index": sight.up[stored.broker]["index"],
            "valid_begin": bodies.text_of(moment(stored.last_ms)),
            "valid_end": bodies.text_of(moment(stored.last_ms + change.valid_ms)),
        }
        is_certain = stored.first_ms == stored.last_ms
        return Taken(body, _version(stored.last_ms, change.provider) if is_certain else "")

    async def ask(self, sight: Sight, key: Key, how: How) -> Asked:
        """Query the chosen broker, or any. Raises ``Absent``, ``NotRunning``, ``NotAnswered``, ``InvalidSetting``."""
        brokers = _brokers(sight, how.server)
        client = self._client(sight)
        one_in = traced_one_in(sight) if how.is_traced else 0
        is_chosen = how.server is not None
        holder = None if is_chosen else self._holder(sight, key)
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
            raise NotThere(sight.network, _trace(error.query, key, one_in)) from None
        except NoAnswer as error:
            raise NotAnswered(f"Broker {how.server} does not answer." if is_chosen else str(error)) from None
        except TooMany:
            raise NotAnswered("All ports to the brokers of this network are in use. Try again later.") from None
        except WireError as error:
            raise InvalidSetting("entity", str(error)) from None
        if holder is not None and found.timestamp < holder.stamp_ms:
            found = await self._newest(client, key, found, holder)
        return _asked(sight, key, found, holder, one_in, is_chosen)

    async def provide(self, sight: Sight, change: Change, how: How) -> Stored:
        """Store context at the chosen broker, or at any. Raises like ``ask``, but for ``Absent``."""
        brokers = _brokers(sight, how.server)
        known = None if how.server is not None else self._holder(sight, change.key)
        try:
            stored = await self._client(sight).provide(
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
            raise NotAnswered("All ports to the brokers of this network are in use. Try again later.") from None
        until_ms = stored.first_ms + change.valid_ms
        process = sight.up[stored.broker].get("pid")
        holder = Holder(stored.broker, process, stored.first_ms, change.provider, until_ms)
        self._holders.note(sight.network, change.key, holder)
        return stored

    def _holder(self, sight: Sight, key: Key) -> Holder | None:
        """Who is known to have it, and runs."""
        known = self._holders.of(sight.network, key, time.time_ns() // 1_000_000)
        if known is None or known.broker not in sight.up or sight.up[known.broker].get("pid") != known.process:
            return None
        return known

    @staticmethod
    async def _newest(client: PoolClient, key: Key, found: Found, holder: Holder) -> Found:
        """``found``, or the later value of its holder, which another broker was faster than."""
        try:
            other = await client.ask(key, (holder.broker,), LATEST_S, is_alone=True)
        except (NotFound, NoAnswer, TooMany):  # it is down, and the later value is lost
            return found
        return max(found, other, key=lambda one: one.timestamp)

    def _client(self, sight: Sight) -> PoolClient:
        """The ports to this network, of the running event loop."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._close_all()
            self._loop = loop
        client, addresses = self._clients.get(sight.network) or (PoolClient(self._stamps, self._wall), ())
        if addresses != sight.addresses:
            client.keep(sight.addresses)
            self._clients[sight.network] = client, sight.addresses
            while len(self._clients) > MOST_NETWORKS:
                self._clients.popitem(last=False)[1][0].close()
        self._clients.move_to_end(sight.network)
        return client

    def _close_all(self) -> None:
        while self._clients:
            self._clients.popitem()[1][0].close()


PLANE = ContextPlane()


def _brokers(sight: Sight, chosen: int | None) -> tuple[Address, ...]:
    """Running brokers, or the ``chosen`` one. Raises ``NotRunning``."""
    if not sight.is_up:
        raise NotRunning(f"This network is {sight.state} and cannot be queried. {sight.reason}".strip())
    if chosen is None:
        if not sight.addresses:
            raise NotRunning("No broker of this network is running.")
        return sight.addresses
    up = tuple(address for address, row in sight.up.items() if row["index"] == chosen)
    if not up:
        rows = [row for row in sight.rows if row["index"] == chosen]
        raise NotRunning(f"Broker {chosen} is {rows[0]['state'] if rows else 'not started'} and cannot be queried.")
    return up


def _asked(sight: Sight, key: Key, found: Found, holder: Holder | None, one_in: int, is_chosen: bool) -> Asked:
    is_held = holder is not None and found.broker == holder.broker and found.timestamp >= holder.stamp_ms
    strategy = "walk" if found.strategy == "first" else found.strategy
    if is_chosen:
        strategy = "chosen"
    elif is_held and holder is not None:
        strategy = "holder"
    hops = 0 if is_held and holder is not None and found.provider == holder.provider else None
    return Asked(found, sight.up[found.broker]["index"], strategy, hops, _trace(found.query, key, one_in))


def _trace(query: QueryName | None, key: Key, one_in: int) -> str:
    """The id if ``query`` is traced; with rare tracing, no timestamp near enough may qualify."""
    return "" if not one_in or query is None or not is_traced(query, one_in) else trace_of(query, key)


def walk_of(network: str, trace: str) -> str:
    """The URL of a walk."""
    return f"/api/networks/{network}/walks/{trace}/"


def _body(sight: Sight, asked: Asked) -> dict[str, Any]:
    found = asked.found
    text = found.payload.decode()
    return {
        "provider": found.provider,
        "payload": parse_pairs(text),
        "text": text,
        "valid_begin": bodies.text_of(moment(found.valid_begin)),
        "valid_end": bodies.text_of(moment(found.valid_end)),
        "age_ms": age_ms(found),
        "broker": format_address(found.broker),
        "broker_index": asked.broker_index,
        "hops": asked.hops,
        "strategy": asked.strategy,
        "walk": walk_of(sight.network, asked.trace) if asked.trace else None,
    }


def age_ms(found: Found) -> int:
    """Time since the provider sent it, never negative."""
    return max(0, time.time_ns() // 1_000_000 - found.timestamp)


def _version(timestamp: int, provider: str) -> str:
    return blake2b(f"{timestamp}|{provider}".encode(), digest_size=8).hexdigest()
