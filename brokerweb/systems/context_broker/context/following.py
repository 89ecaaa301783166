"""Views of the networks whose context is listed or streamed, kept while they are used.

Counterparts: ``overlay.programs.context_broker.follower`` follows the brokers of one network;
``brokerweb.front.streams`` passes the changes on to listeners.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from brokerweb.kit.errors import NotAnswered
from brokerweb.networks.snapshot import NetworkSnapshot
from brokerweb.systems.context_broker.context import rows
from brokerweb.systems.context_broker.context.holders import Holder
from brokerweb.systems.context_broker.context.selection import Selection
from brokerweb.systems.contract import Key, StoredValue
from overlay.core.addresses import Address
from overlay.programs.context_broker.follower import NetworkFollower, TooManyBrokers, wall_ms
from overlay.systems.context_broker.view.change_log import Kind, NetworkChange
from overlay.systems.context_broker.view.entries import Entry
from overlay.systems.context_broker.view.view import NetworkView

MOST_FOLLOWED = 16
"""Networks followed at once; one without listeners gives way."""
MOST_RECORDS = 200_000
MOST_PAYLOAD_BYTES = 64_000_000
"""Of the view of one network."""
ANSWER_BYTES = 20_000
"""Of one answer of a broker: it takes the event loop some 4 ms to read 180 entries."""
IDLE_S = 60.0
"""A network without listeners is followed so long after it was last used."""
FIRST_READ_S = 5.0
"""Longest wait for the tables of all brokers when following begins; then the list says what is missing."""
REFRESH_S = 1.0
"""Longest wait for brokers that are asked whether there is more."""
FRESH_S = 0.5
"""After so long all brokers are asked again before a list is made, so that it says which of them are gone."""

Stored = Callable[[str, Key], None]


class NetworkFollowing:
    """One network. The ``Following`` of ``brokerweb.systems.contract``."""

    def __init__(self, network: str, stored: Callable[[], Sequence[Stored]]) -> None:
        self.follower = NetworkFollower(view=_new_view())
        self.used_at = 0.0
        self.listeners = 0
        self._network = network
        self._stored = stored
        self._seen = 0
        self._addresses: tuple[Address, ...] = ()
        self._indexes: Mapping[Address, int] = {}
        self._changed: set[Address] = set()
        """Brokers that accepted a change through REST since they were last asked."""
        self._asking: dict[object, set[Address]] = {}
        """What each refresh in progress asks for."""
        self._fresh_until = 0.0
        self.follower.listen(self._tell_stored)

    @property
    def view(self) -> NetworkView:
        return self.follower.view

    @property
    def last(self) -> int:
        return self.view.log.last

    def id_of(self, number: int) -> str:
        return self.view.log.id_of(number)

    def number_of(self, id: str) -> int | None:
        return self.view.log.number_of(id)

    def changes(self, after: int, most: int) -> Sequence[NetworkChange] | None:
        return self.view.log.after(after, most)

    def event(self, change: NetworkChange, selection: Selection) -> tuple[str, Mapping[str, Any]] | None:
        """``stored``, ``withdrawn``, ``expired``, ``dropped``; ``left`` if its new value is none of the selection."""
        now = wall_ms()
        if change.kind is Kind.STORED and selection.matches(change.record, now):
            return "stored", rows.row(change.record, change.holders, self._indexes, now)
        if change.before is None or not selection.matches(change.before, now):
            return None
        return ("left" if change.kind is Kind.STORED else str(change.kind)), rows.gone(change.record)

    def values(self, key: Key) -> Sequence[StoredValue]:
        return [rows.value(entry.record) for entry in self.view.about(key, wall_ms())]

    def values_of(self, change: NetworkChange) -> tuple[StoredValue | None, StoredValue | None]:
        before = None if change.before is None else rows.value(change.before)
        return before, rows.value(change.record) if change.kind is Kind.STORED else None

    def missing(self, snapshot: NetworkSnapshot) -> Sequence[Mapping[str, Any]]:
        return rows.missing(snapshot, self.view.missing)

    def listen(self, listener: Callable[[], object]) -> Callable[[], None]:
        remove = self.follower.listen(listener)
        self.listeners += 1
        return partial(self._stop_listening, remove)

    def follow(self, snapshot: NetworkSnapshot) -> None:
        """These are its brokers now. Raises ``NotAnswered``."""
        if snapshot.addresses != self._addresses:
            try:
                self.follower.follow(snapshot.addresses)
            except TooManyBrokers as error:
                raise NotAnswered(f"The context of this network cannot be listed: {error}.") from None
            self._addresses = snapshot.addresses
            self._indexes = rows.indexes(snapshot)

    def holder(self, snapshot: NetworkSnapshot, entry: Entry) -> Holder | None:
        """A running broker that holds the entry."""
        record = entry.record
        for broker in entry.holders:
            if broker in snapshot.up:
                process = snapshot.up[broker].get("pid")
                return Holder(broker, process, record.timestamp, record.provider, record.valid_end)
        return None

    def note(self, *brokers: Address) -> None:
        """They have accepted changes through REST, or are to be asked again."""
        self._changed.update(brokers)

    async def refresh(self) -> None:
        """Until the view has what REST stored before, and what all stored a moment ago, within bounds."""
        await self.follower.has_read(FIRST_READ_S)
        now = asyncio.get_running_loop().time()
        if now >= self._fresh_until:
            self._fresh_until = now + FRESH_S
            self._changed.update(self._addresses)
        mine = object()
        self._asking[mine], self._changed = self._changed, set()
        try:
            if changed := set[Address]().union(*self._asking.values()):  # with what others are still waiting for
                await self.follower.refreshed(changed, REFRESH_S)
        finally:
            del self._asking[mine]

    def _stop_listening(self, remove: Callable[[], None]) -> None:
        remove()
        self.listeners -= 1
        self.used_at = asyncio.get_running_loop().time()

    def _tell_stored(self) -> None:
        changes = self.changes(self._seen, self.last) or ()
        self._seen = self.last
        for stored in self._stored():
            for change in changes:
                if change.kind is Kind.STORED:
                    stored(self._network, change.record.key)


class Followings:
    """Those of one process, in one event loop."""

    def __init__(self) -> None:
        self.stored: list[Stored] = []
        """Called with network and key of new data."""
        self._of: OrderedDict[str, NetworkFollowing] = OrderedDict()
        self._timer: asyncio.TimerHandle | None = None

    def get(self, network: str) -> NetworkFollowing | None:
        """If it is followed."""
        return self._of.get(network)

    def start(self, snapshot: NetworkSnapshot) -> NetworkFollowing:
        """Follow a network, or go on. Raises ``NotAnswered``."""
        following = self._of.get(snapshot.network)
        if following is None:
            self._make_room()
            following = self._of[snapshot.network] = NetworkFollowing(snapshot.network, lambda: self.stored)
        self._of.move_to_end(snapshot.network)
        following.used_at = asyncio.get_running_loop().time()
        following.follow(snapshot)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(IDLE_S, self._tidy)
        return following

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self._of:
            self._of.popitem()[1].follower.close()

    def _make_room(self) -> None:
        if len(self._of) < MOST_FOLLOWED:
            return
        unused = next((name for name, one in self._of.items() if not one.listeners), None)
        if unused is None:
            raise NotAnswered(f"{MOST_FOLLOWED} networks are followed by streams, the most at once. Try again later.")
        self._of.pop(unused).follower.close()

    def _tidy(self) -> None:
        loop = asyncio.get_running_loop()
        for name, one in list(self._of.items()):
            if not one.listeners and one.used_at + IDLE_S <= loop.time():
                self._of.pop(name).follower.close()
        self._timer = loop.call_later(IDLE_S, self._tidy) if self._of else None


def _new_view() -> NetworkView:
    return NetworkView(
        wall_ms(),
        most_bytes=ANSWER_BYTES,
        most_records=MOST_RECORDS,
        most_payload_bytes=MOST_PAYLOAD_BYTES,
    )
