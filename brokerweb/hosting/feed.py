"""What happens to the hosted subscriptions of one network, numbered, for streams.

Implements ``Following`` of ``brokerweb.systems.contract``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from brokerweb.networks.snapshot import NetworkSnapshot
from brokerweb.systems.contract import Key, StoredValue
from overlay.core.numbered_log import NumberedLog

OVERHEAD_BYTES = 500
"""Of an event in memory, without its text."""
NOTIFICATION, ENDED = "notification", "ended"
"""The names of events."""
REMOVED = "removed"
"""The end of a subscription that its account removed."""

Selection = frozenset[str]
"""Ids of subscriptions."""


class Happened(NamedTuple):
    name: str
    subscription: str
    account: str
    """Whose subscription it is."""
    body: Mapping[str, Any]


class Feed:
    """``follow``, ``values`` and ``values_of`` have nothing to do: context is not stored here."""

    def __init__(self) -> None:
        self.used_at = 0.0
        """When it was last asked for, time of the loop."""
        self._log: NumberedLog[Happened] = NumberedLog(time.time_ns() // 1_000_000)
        self._listeners: list[Callable[[], object]] = []

    def add(self, happened: Happened, size_bytes: int) -> None:
        self._log.append(happened, OVERHEAD_BYTES + size_bytes)
        for listener in list(self._listeners):
            listener()

    @property
    def is_listened_to(self) -> bool:
        return bool(self._listeners)

    @property
    def last(self) -> int:
        return self._log.last

    def id_of(self, number: int) -> str:
        return self._log.id_of(number)

    def number_of(self, id: str) -> int | None:
        return self._log.number_of(id)

    def changes(self, after: int, most: int) -> Sequence[Happened] | None:
        return self._log.after(after, most)

    def endings(self, account: str, after: str) -> frozenset[str]:
        """Subscriptions of an account whose end a stream is told that resumes behind the event with this id."""
        number = self.number_of(after)
        behind = None if number is None else self.changes(number, self.last - number)
        return frozenset(one.subscription for one in behind or () if one.name == ENDED and one.account == account)

    def event(self, change: Happened, selection: Selection) -> tuple[str, Mapping[str, Any]] | None:
        return (change.name, change.body) if change.subscription in selection else None

    def values(self, key: Key) -> Sequence[StoredValue]:
        return ()

    def values_of(self, change: Happened) -> tuple[StoredValue | None, StoredValue | None]:
        return None, None

    def follow(self, snapshot: NetworkSnapshot) -> None:
        pass

    def missing(self, snapshot: NetworkSnapshot) -> Sequence[Mapping[str, Any]]:
        return ()

    def listen(self, listener: Callable[[], object]) -> Callable[[], None]:
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)
