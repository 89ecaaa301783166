"""Entities in a network's context: found, and changed without another change through this process in between."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import NamedTuple

from django.conf import settings

from brokerweb.front.application import SERVICE
from brokerweb.front.service import context_of
from brokerweb.networks.sight import Sight
from brokerweb.ngsi.entries import Entry, Put, Step, Withdraw, entity_of
from brokerweb.ngsi.known import Known
from brokerweb.ngsi.model import Entity
from brokerweb.ngsi.pairs import pairs_of
from brokerweb.ngsi.problems import Kind, Problem, unsupported, wrong
from brokerweb.ngsi.scopes import Scopes
from brokerweb.ngsi.times import read_time
from brokerweb.systems.contract import Absent, Held, How, Key

PROVIDER = "ngsi"
"""The provider of what is stored through either standard."""
AT_ONCE = 16
KNOWN = Known()


class Place(NamedTuple):
    """Where to look for an entity."""

    id: str
    type: str | None
    """``None``: any."""
    likely: str | None = None
    """The type that it has, if any; looked at even if nothing is known of it."""


class Store:
    """The context of one network, for one request."""

    def __init__(self, sight: Sight, scopes: Scopes) -> None:
        self.scopes = scopes
        self._sight = sight
        self._context = context_of(sight, "get")

    @property
    def longest_valid_ms(self) -> int:
        return self._context.longest_valid_ms

    async def find(self, *places: Place) -> tuple[Entity, list[Entry]]:
        """The entity at the first place that has one, and its entries. Raises ``Problem``: none, or several types."""
        for place in places:
            entries = await self.entries(place)
            if entries:
                return _one(place, entries)
        raise not_found(places[0])

    async def entries(self, place: Place) -> list[Entry]:
        """Those of the entities of this id; none if there are none."""
        found = await self._all(self._keys(place))
        return [entry for entry in found if entry is not None]

    async def all(self, includes: Callable[[str, str], bool]) -> list[Entry]:
        """Those of all entities that ``includes(type, id)``."""
        raise unsupported("This network cannot list its context.")

    async def delete(self, *places: Place) -> None:
        """Raises ``Problem`` if there is none."""
        async with self.alone(*places):
            entity, entries = await self.find(*places)
            scopes = sorted({entry.scope for entry in entries})
            await self.carry_out(entity.id, entity.type, map(Withdraw, scopes))

    @asynccontextmanager
    async def alone(self, *places: Place) -> AsyncIterator[None]:
        """While no other change of these entities is made through this process."""
        keys = {key for place in places for key in self._keys(place)}
        async with AsyncExitStack() as stack:
            for key in sorted(keys):
                await stack.enter_async_context(SERVICE.locks.of((self._sight.network, key)))
            yield

    async def carry_out(self, id: str, type: str, steps: Iterable[Step]) -> None:
        """Store and withdraw. Raises what the system raises; what was stored by then stays stored."""
        for step in steps:
            key = (type, id, step.scope)
            if not isinstance(step, Put):
                raise unsupported("This network cannot delete context.")
            await self._put(key, step)

    async def _put(self, key: Key, step: Put) -> None:
        now_ms = time.time_ns() // 1_000_000
        longest_ms = self._context.longest_valid_ms
        valid_ms = longest_ms if step.until_ms is None else min(longest_ms, max(1, step.until_ms - now_ms))
        body = {"provider": PROVIDER, "payload": pairs_of(step.attributes), "valid_ms": valid_ms}
        change = self._context.read(self._context.key(*key), body)
        await self._context.put(self._sight, change, _how())
        KNOWN.add(self._sight.network, key)
        SERVICE.waiters.stored((self._sight.network, key))

    def _keys(self, place: Place) -> set[Key]:
        """Where its entities may be."""
        known = KNOWN.of(self._sight.network, place.id)
        found = {key for key in known if place.type in (None, key[0]) and key[2] in self.scopes}
        likely = place.type or place.likely
        if likely is not None:
            found.add((likely, place.id, self.scopes.home))
        return found

    async def _all(self, keys: Iterable[Key]) -> Sequence[Entry | None]:
        slots = asyncio.Semaphore(AT_ONCE)

        async def one(key: Key) -> Entry | None:
            async with slots:
                return await self._entry(key)

        return await asyncio.gather(*map(one, sorted(keys)))

    async def _entry(self, key: Key) -> Entry | None:
        try:
            return entry_of(key, await self._context.get(self._sight, self._context.key(*key), _how()))
        except Absent:
            return None


def entry_of(key: Key, held: Held) -> Entry:
    """From an answer of the system."""
    body = held.body
    end_ms = read_time(body["valid_end"]) or 0
    return Entry(*key, body["payload"], body["text"], held.changed_ms, end_ms, body["provider"])


def _one(place: Place, entries: list[Entry]) -> tuple[Entity, list[Entry]]:
    types = sorted({entry.type for entry in entries})
    if len(types) > 1:
        named = ", ".join(types)
        raise Problem(Kind.AMBIGUOUS, f"There are several entities {place.id} ({named}). Add the parameter type.")
    entity = entity_of(entries)
    assert entity is not None
    return entity, entries


def not_found(place: Place) -> Problem:
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
