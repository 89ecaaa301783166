"""The entries of a network by entity, kept up to date from the changes that the system reports.

A list of the network is read once; then only changes are. ``Mirrors`` keeps those that were used lately.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from brokerweb.networks.sight import Sight
from brokerweb.ngsi.entries import Entry
from brokerweb.ngsi.times import read_time
from brokerweb.systems.contract import Context, Following, Key

PAGE = 500
MOST_CHANGES = 1_000
"""Applied without a pause."""
MOST = 16
"""Networks."""
STORED = "stored"

Place = tuple[str, str]
"""Type and id."""
Name = tuple[str, str]
"""Scope and provider."""
Watcher = Callable[[str, str, Sequence[Entry], Sequence[Entry]], None]
"""Gets type, id, and the entries of the entity before and after a change."""


class Mirror:
    """Of one network."""

    def __init__(self, context: Context, following: Following) -> None:
        self.following = following
        self.is_complete = False
        """Whether no server's data may be missing."""
        self._context = context
        self._everything = context.selection({})
        self._entries: dict[Place, dict[Name, Entry]] = {}
        self._types: dict[str, set[str]] = {}
        self._seen = -1
        self._reading = asyncio.Lock()
        self.watchers: list[Watcher] = []
        """Called after each change that is applied, and must not block."""

    async def catch_up(self, sight: Sight) -> None:
        """Until it has all that ``following`` has."""
        async with self._reading:
            self.is_complete = not self.following.missing(sight)
            while self._seen != self.following.last:
                if not self.apply():
                    await self._read(sight)
                await asyncio.sleep(0)

    def apply(self) -> bool:
        """Apply the next changes; false if some are no longer known, so that all must be read again."""
        changes = self.following.changes(self._seen, MOST_CHANGES) if self._seen >= 0 else None
        for change in changes or ():
            self._seen += 1
            event = self.following.event(change, self._everything)
            if event is not None:
                self._apply(*event)
        return changes is not None

    def of(self, id: str, type: str | None) -> Iterator[Entry]:
        """The valid entries of the entities of this id."""
        now_ms = time.time_ns() // 1_000_000
        for one in sorted(self._types.get(id, ())) if type is None else (type,):
            for entry in self._entries.get((one, id), {}).values():
                if entry.end_ms > now_ms:
                    yield entry

    def places(self) -> list[Place]:
        """Of all entities, in no order."""
        return list(self._entries)

    async def _read(self, sight: Sight) -> None:
        """All of it. What was known stays until then."""
        entries: list[Entry] = []
        after, first = "", None
        while first is None or after:
            listed = await self._context.list(sight, self._everything, after, PAGE)
            first = listed.last_event_id if first is None else first
            after = listed.following
            entries += (entry_of(self._context.names, row) for row in listed.rows)
        self._entries.clear()
        self._types.clear()
        for entry in entries:
            self._put(entry)
        self._seen = self.following.number_of(first) or 0

    def _apply(self, what: str, row: Mapping[str, Any]) -> None:
        type, id, scope = (row[name] for name in self._context.names)
        before = list(self._entries.get((type, id), {}).values()) if self.watchers else ()
        if what == STORED:
            self._put(entry_of(self._context.names, row))
        else:
            self._drop((type, id), (scope, row["provider"]))
        after = list(self._entries.get((type, id), {}).values()) if self.watchers else ()
        for watcher in list(self.watchers):
            watcher(type, id, before, after)

    def _put(self, entry: Entry) -> None:
        self._entries.setdefault((entry.type, entry.id), {})[entry.scope, entry.provider] = entry
        self._types.setdefault(entry.id, set()).add(entry.type)

    def _drop(self, place: Place, name: Name) -> None:
        entries = self._entries.get(place, {})
        entries.pop(name, None)
        if not entries and self._entries.pop(place, None) is not None:
            types = self._types[place[1]]
            types.discard(place[0])
            if not types:
                del self._types[place[1]]

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if its index is wrong."""
        found: dict[str, set[str]] = {}
        for type, id in self._entries:
            found.setdefault(id, set()).add(type)
        assert found == self._types
        assert all(self._entries.values())


def entry_of(names: Collection[str], row: Mapping[str, Any]) -> Entry:
    """From a row of a list."""
    type, id, scope = (row[name] for name in names)
    stored_ms = time.time_ns() // 1_000_000 - row["age_ms"]
    end_ms = read_time(row["valid_end"]) or 0
    return Entry(type, id, scope, row["payload"], row["text"], stored_ms, end_ms, row["provider"])


def key_of(entry: Entry) -> Key:
    return entry.type, entry.id, entry.scope


class Mirrors:
    """Of the networks that were used lately, in one event loop."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._of: OrderedDict[str, Mirror] = OrderedDict()
        self._loop: asyncio.AbstractEventLoop | None = None

    async def get(self, sight: Sight, context: Context) -> Mirror:
        """Up to date with all that was stored through this process. Raises ``NotAnswered`` and ``NotPossible``."""
        following = await context.follow(sight)
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._of.clear()
            self._loop = loop
        mirror = self._of.get(sight.network)
        if mirror is None or mirror.following is not following:
            mirror = self._of[sight.network] = Mirror(context, following)
        self._of.move_to_end(sight.network)
        while len(self._of) > self._most:
            self._of.popitem(last=False)
        await mirror.catch_up(sight)
        return mirror


MIRRORS = Mirrors()
