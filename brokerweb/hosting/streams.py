"""The streams of subscriptions at ``/api/networks/ID/stream/?subscription=ID``, and the life of a host.

Implements ``brokerweb.systems.contract.Context``; of its operations only streams.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from brokerweb.hosting.feed import Feed, Selection
from brokerweb.hosting.host import Host
from brokerweb.hosting.rows import in_thread
from brokerweb.kit.errors import NotPossible
from brokerweb.networks.snapshot import NetworkSnapshot
from brokerweb.systems.contract import Absent, How, Key, Listed
from overlay.core.errors import InvalidSetting, shown

MOST_SELECTED = 100
_ID = re.compile("[a-z0-9]{1,20}")
_ELSEWHERE = "Context of this network is published and queried at other addresses."


class Streams:
    operations = frozenset({"stream"})
    names = ("first", "second", "third")
    longest_valid_ms = 86_400_000
    fields: tuple[str, ...] = ()
    filters = frozenset({"subscription"})
    of_delete: frozenset[str] = frozenset()

    def __init__(self, host: Host[Any]) -> None:
        self._host = host

    def start(self) -> None:
        self._host.start()

    async def stop(self) -> None:
        await self._host.stop()

    def selection(self, parameters: Mapping[str, str]) -> Selection:
        """Ids of subscriptions, comma-separated."""
        ids = [one.strip() for one in parameters.get("subscription", "").split(",")]
        if len(ids) > MOST_SELECTED or not all(map(_ID.fullmatch, ids)):
            what = shown(parameters.get("subscription", ""), 40)
            raise InvalidSetting(
                "subscription", f"must be 1 to {MOST_SELECTED} ids of subscriptions, comma-separated, not {what}"
            )
        return frozenset(ids)

    async def follow(self, snapshot: NetworkSnapshot) -> Feed:
        return await self._host.feed(snapshot.network)

    async def check(self, snapshot: NetworkSnapshot, selection: Selection, account: str, after: str) -> None:
        """A stream of what never comes would be silent for ever; one that resumes may have missed only the end."""
        feed = await self._host.feed(snapshot.network)
        found = await in_thread(self._host.states)(snapshot.network, account, selection)
        silent = sorted(selection - feed.endings(account, after))
        if unknown := [id for id in silent if id not in found]:
            raise Absent(f"This account has no subscription {unknown[0]!r} in this network.")
        if len(silent) == len(selection) and all(found.values()):
            others = ", and so have the others" if silent[1:] else ""
            raise Absent(f"Subscription {silent[0]} has ended ({found[silent[0]]}){others}.")

    async def list(self, snapshot: NetworkSnapshot, selection: Any, after: str, most: int) -> Listed:
        """A stream that begins with a snapshot begins with nothing."""
        return Listed((), "", "", ())

    def when_stored(self, stored: Callable[[str, Key], None]) -> None:
        """No request waits for data here."""

    def key(self, first: str, second: str, third: str) -> Key:
        return first, second, third

    async def get(self, snapshot: NetworkSnapshot, key: Key, how: How) -> NoReturn:
        raise NotPossible(_ELSEWHERE)

    def read(self, key: Key, body: Any) -> NoReturn:
        raise NotPossible(_ELSEWHERE)

    async def put(self, snapshot: NetworkSnapshot, change: Any, how: How) -> NoReturn:
        raise NotPossible(_ELSEWHERE)

    async def delete(
        self,
        snapshot: NetworkSnapshot,
        key: Key,
        which: Mapping[str, str],
        how: How,
        check: Callable[[str | None, int], None],
    ) -> NoReturn:
        raise NotPossible(_ELSEWHERE)
