"""Entities in a network's context: found, and changed without another change through this process in between."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import NamedTuple

from django.conf import settings

from brokerweb.front.application import SERVICE
from brokerweb.front.service import context_of, unconditional
from brokerweb.kit.errors import NotAnswered
from brokerweb.ngsi.entity_index import ENTITY_INDEXES, EntityIndex, key_of
from brokerweb.ngsi.entries import Entry, Put, Step, Withdraw, entity_of
from brokerweb.ngsi.model import Entity
from brokerweb.ngsi.pairs import pairs_of
from brokerweb.ngsi.problems import Kind, Problem, wrong
from brokerweb.ngsi.requests import Request
from brokerweb.ngsi.scopes import Scopes
from brokerweb.ngsi.selection import Selection, View
from brokerweb.ngsi.stored_keys import StoredKeys
from brokerweb.ngsi.times import read_time
from brokerweb.operationlog import recording
from brokerweb.operationlog.entries import DELETE, GET, PUT
from brokerweb.systems.contract import Absent, Held, How, Key

PROVIDER = "ngsi"
"""The provider of what is stored through either standard."""
VIA = "NGSI"
"""In the operation log."""
AT_ONCE = 16
SLICE = 200
"""Entities looked at without a pause: a few milliseconds."""
STORED_KEYS = StoredKeys()


class EntityReference(NamedTuple):
    """Where to look for an entity."""

    id: str
    type: str | None
    """``None``: any."""
    likely: str | None = None
    """The type that it has, if any; looked at even if nothing is known of it."""


class Store:
    """The context of one network, for one request."""

    def __init__(self, request: Request, scopes: Scopes, index: EntityIndex) -> None:
        self.scopes = scopes
        self._snapshot, self._who = request.snapshot, request.who
        self._context = context_of(request.snapshot, "get")
        self._index = index

    @property
    def longest_valid_ms(self) -> int:
        return self._context.longest_valid_ms

    async def find(self, *places: EntityReference) -> tuple[Entity, list[Entry]]:
        """The entity at the first place that has one, and its entries. Raises ``Problem``: none, or several types."""
        for place in places:
            entries = await self.entries(place)
            if entries:
                return _one(place, entries)
        raise not_found(places[0])

    async def entries(self, place: EntityReference) -> list[Entry]:
        """Those of the entities of this id; none if there are none."""
        found = await self._all(self._keys(place))
        return [entry for entry in found if entry is not None]

    async def select(self, selection: Selection, view: View) -> list[Entity]:
        """The entities that are selected, ordered by type and id. Others are answered in between."""
        found = []
        for number, (type, id) in enumerate(self._index.places()):
            if number % SLICE == 0:
                await asyncio.sleep(0)
            if selection.includes(type, id):
                entity = entity_of(entry for entry in self._index.of(id, type) if entry.scope in self.scopes)
                if entity is not None and selection.selects(entity, view):
                    found.append(entity)
        return sorted(found, key=lambda one: (one.type, one.id))

    async def delete(self, *places: EntityReference) -> None:
        """Raises ``Problem`` if there is none."""
        async with self.alone(*places):
            entity, entries = await self.find(*places)
            scopes = sorted({entry.scope for entry in entries})
            await self.carry_out(entity.id, entity.type, map(Withdraw, scopes))

    @asynccontextmanager
    async def alone(self, *places: EntityReference) -> AsyncIterator[None]:
        """While no other change of these entities is made through this process."""
        keys = {key for place in places for key in self._keys(place, with_home=True)}
        async with AsyncExitStack() as stack:
            for key in sorted(keys):
                await stack.enter_async_context(SERVICE.locks.of((self._snapshot.network, key)))
            yield

    async def carry_out(self, id: str, type: str, steps: Iterable[Step]) -> None:
        """Store and withdraw. Raises what the system raises; what was done by then stays so."""
        for step in steps:
            key = self._context.key(type, id, step.scope)
            if isinstance(step, Put):
                await self._put(key, step)
            else:
                await self._withdraw(key)

    async def _put(self, key: Key, step: Put) -> None:
        now_ms, longest_ms = time.time_ns() // 1_000_000, self._context.longest_valid_ms
        valid_ms = longest_ms if step.until_ms is None else min(longest_ms, max(1, step.until_ms - now_ms))
        body = {"provider": PROVIDER, "payload": pairs_of(step.attributes), "valid_ms": valid_ms}
        with recording.noted(self._snapshot.network, self._who, VIA, PUT, key, PROVIDER) as said:
            taken = await self._context.put(self._snapshot, self._context.read(key, body), _how())
            said["broker_index"] = taken.body.get("broker_index")
        STORED_KEYS.add(self._snapshot.network, key)
        SERVICE.waiters.stored((self._snapshot.network, key))

    async def _withdraw(self, key: Key) -> None:
        """What all providers stored there: an earlier one would come to light."""
        context_of(self._snapshot, "delete")
        STORED_KEYS.discard(self._snapshot.network, key)
        found = {entry.provider for entry in self._index.of(key[1], key[0]) if entry.scope == key[2]}
        for provider in sorted(found | {PROVIDER}):
            try:
                with recording.noted(self._snapshot.network, self._who, VIA, DELETE, key, provider):
                    await self._context.delete(self._snapshot, key, {"provider": provider}, _how(), unconditional)
            except Absent:
                continue

    def _keys(self, place: EntityReference, *, with_home: bool = False) -> set[Key]:
        """Where its entities are. Of one that is not known where data may be missing, where it is likely to be;
        ``with_home``: that in any case."""
        keys = [key_of(entry) for entry in self._index.of(place.id, place.type)]
        keys += [key for key in STORED_KEYS.of(self._snapshot.network, place.id) if place.type in (None, key[0])]
        found = {key for key in keys if key[2] in self.scopes}
        likely = place.type or place.likely
        if likely is not None and (with_home or not (found or self._index.is_complete)):
            found.add((likely, place.id, self.scopes.home))
        return found

    async def _all(self, keys: Iterable[Key]) -> Sequence[Entry | None]:
        slots = asyncio.Semaphore(AT_ONCE)

        async def one(key: Key) -> Entry | None:
            async with slots:
                return await self._entry(key)

        return await asyncio.gather(*map(one, sorted(keys)))

    async def _entry(self, key: Key) -> Entry | None:
        """As a server says it; if none answers, as it was last known."""
        try:
            with recording.noted(self._snapshot.network, self._who, VIA, GET, key) as said:
                held = await self._context.get(self._snapshot, self._context.key(*key), _how())
                said |= {name: held.body.get(name) for name in ("broker_index", "hops", "strategy")}
        except Absent:
            return None
        except NotAnswered:
            known = [entry for entry in self._index.of(key[1], key[0]) if entry.scope == key[2]]
            if not known:
                raise
            return max(known, key=lambda entry: entry.stored_ms)
        return held_entry(key, held)


async def open_store(request: Request, scopes: Scopes) -> Store:
    """Raises ``NotPossible`` and ``NotAnswered``."""
    context = context_of(request.snapshot, "list")
    return Store(request, scopes, await ENTITY_INDEXES.get(request.snapshot, context))


def held_entry(key: Key, held: Held) -> Entry:
    """From an answer of the system."""
    body = held.body
    end_ms = read_time(body["valid_end"]) or 0
    return Entry(*key, body["payload"], body["text"], held.changed_ms, end_ms, body["provider"])


def _one(place: EntityReference, entries: list[Entry]) -> tuple[Entity, list[Entry]]:
    types = sorted({entry.type for entry in entries})
    if len(types) > 1:
        named = ", ".join(types)
        raise Problem(Kind.AMBIGUOUS, f"There are several entities {place.id} ({named}). Add the parameter type.")
    entity = entity_of(entries)
    assert entity is not None
    return entity, entries


def not_found(place: EntityReference) -> Problem:
    of_type = f" of type {place.type}" if place.type is not None else ""
    return Problem(Kind.NOT_FOUND, f"There is no entity {place.id}{of_type}.")


def until_of(field: str, value: object, longest_ms: int, now_ms: int) -> int:
    """The end of validity, Unix milliseconds. Raises ``Problem``."""
    until_ms = read_time(value)
    if until_ms is None:
        raise wrong(f"{field}: must be a time such as 2030-01-31T12:00:00Z.")
    if until_ms <= now_ms:
        raise wrong(f"{field}: is in the past.")
    if until_ms - now_ms > longest_ms:
        raise wrong(f"{field}: data is valid for at most {longest_ms // 86_400_000} days.")
    return until_ms


def _how() -> How:
    return How(settings.CONTEXT_DEADLINE_SECONDS)
