"""The entities of a network: which entries each has, kept up to date from the changes that the system reports.

The entries themselves are those of the system's own view. A list of the network is read once; then only changes are.
``EntityIndexes`` keeps those that were used recently.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence

from brokerweb.networks.snapshot import NetworkSnapshot
from brokerweb.ngsi.entries import Entry
from brokerweb.systems.contract import Context, Following, Key, StoredValue

PAGE = 500
MOST_CHANGES = 1_000
"""Applied without a pause."""
MOST = 16
"""Networks."""

EntityKey = tuple[str, str]
"""Type and id."""
Name = tuple[str, str]
"""Scope and provider."""
Watcher = Callable[[str, str, Sequence[Entry], Sequence[Entry]], None]
"""Gets type, id, and the entries of the entity before and after a change."""


class EntityIndex:
    """Of one network."""

    def __init__(self, context: Context, following: Following) -> None:
        self.following = following
        self.is_complete = False
        """Whether no server's data may be missing."""
        self._context = context
        self._everything = context.selection({})
        self._names: dict[EntityKey, set[Name]] = {}
        self._types: dict[str, set[str]] = {}
        self._seen = -1
        self._reading = asyncio.Lock()
        self.watchers: list[Watcher] = []
        """Called after each change that is applied, and must not block."""

    async def catch_up(self, snapshot: NetworkSnapshot) -> None:
        """Until it has all that ``following`` has."""
        async with self._reading:
            self.is_complete = not self.following.missing(snapshot)
            while self._seen != self.following.last:
                if not self.apply():
                    await self._read(snapshot)
                await asyncio.sleep(0)

    def apply(self) -> bool:
        """Apply the next changes; false if some are no longer known, so that all must be read again."""
        changes = self.following.changes(self._seen, MOST_CHANGES) if self._seen >= 0 else None
        for change in changes or ():
            self._seen += 1
            before, after = self.following.values_of(change)
            self._apply(before, after)
            if self.watchers:
                self._tell(before, after)
        return changes is not None

    def of(self, id: str, type: str | None) -> Iterator[Entry]:
        """The valid entries of the entities of this id."""
        for one in sorted(self._types.get(id, ())) if type is None else (type,):
            for scope in sorted({scope for scope, _ in self._names.get((one, id), ())}):
                yield from map(entry_of, self.following.values((one, id, scope)))

    def places(self) -> list[EntityKey]:
        """Of all entities, in no order."""
        return list(self._names)

    async def _read(self, snapshot: NetworkSnapshot) -> None:
        """All of it. What was known stays until then."""
        keys: list[tuple[Key, str]] = []
        after, first = "", None
        while first is None or after:
            listed = await self._context.list(snapshot, self._everything, after, PAGE)
            first = listed.last_event_id if first is None else first
            after = listed.following
            for row in listed.rows:
                type, id, scope = (row[name] for name in self._context.names)
                keys.append(((type, id, scope), row["provider"]))
        self._names.clear()
        self._types.clear()
        for key, provider in keys:
            self._put(key, provider)
        self._seen = self.following.number_of(first) or 0

    def _apply(self, before: StoredValue | None, after: StoredValue | None) -> None:
        if after is not None:
            self._put(after.key, after.source)
        elif before is not None:
            self._drop(before.key, before.source)

    def _tell(self, before: StoredValue | None, after: StoredValue | None) -> None:
        """Other entries of the entity are as they are now, so that only this change is between both states."""
        one = after or before
        if one is None:
            return
        type, id, scope = one.key
        name = scope, one.source
        others = [entry for entry in self.of(id, type) if (entry.scope, entry.provider) != name]
        states = [[*others, *([entry_of(value)] if value is not None else ())] for value in (before, after)]
        for watcher in list(self.watchers):
            watcher(type, id, *states)

    def _put(self, key: Key, provider: str) -> None:
        type, id, scope = key
        self._names.setdefault((type, id), set()).add((scope, provider))
        self._types.setdefault(id, set()).add(type)

    def _drop(self, key: Key, provider: str) -> None:
        type, id, scope = key
        names = self._names.get((type, id), set())
        names.discard((scope, provider))
        if not names and self._names.pop((type, id), None) is not None:
            types = self._types[id]
            types.discard(type)
            if not types:
                del self._types[id]

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if its index is wrong."""
        found: dict[str, set[str]] = {}
        for type, id in self._names:
            found.setdefault(id, set()).add(type)
        assert found == self._types
        assert all(self._names.values())


def entry_of(value: StoredValue) -> Entry:
    return Entry(*value.key, value.pairs, value.text, value.stored_ms, value.end_ms, value.source)


def key_of(entry: Entry) -> Key:
    return entry.type, entry.id, entry.scope


class EntityIndexes:
    """Of the networks that were used recently, in one event loop."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._of: OrderedDict[str, EntityIndex] = OrderedDict()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def get(self, snapshot: NetworkSnapshot, context: Context) -> EntityIndex:
        """Up to date with all that was stored through this process. Raises ``NotAnswered`` and ``NotPossible``."""
        following = await context.follow(snapshot)
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._of.clear()
            self._loop = loop
        index = self._of.get(snapshot.network)
        if index is None or index.following is not following:
            index = self._of[snapshot.network] = EntityIndex(context, following)
        self._of.move_to_end(snapshot.network)
        while len(self._of) > self._most:
            self._of.popitem(last=False)
        await index.catch_up(snapshot)
        return index


ENTITY_INDEXES = EntityIndexes()
