"""Subscriptions by (scope, entity.id) where a conjunction fixes both, else by scope, so that a notification meets few.

Each subscription has a set of destinations: the clients and neighbours that get what satisfies it. It is in the index
as long as it has one, and not expired.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator
from heapq import heapify, heappop, heappush
from typing import Generic, TypeVar

from overlay.systems.federation.language.conjunctions import fixed_entity, terms
from overlay.systems.federation.matching.bucket import Bucket
from overlay.systems.federation.wire.values import Notification, Subscription, SubscriptionId

D = TypeVar("D", bound=Hashable)
"""A destination."""
_SLACK = 64
"""Deadlines that the heap may have in addition to two for each subscription: of those removed and renewed."""


class Row(Generic[D]):
    """A subscription with its destinations."""

    __slots__ = ("destinations", "entity", "ordered", "parts", "subscription")

    def __init__(self, subscription: Subscription) -> None:
        self.subscription = subscription
        self.destinations: set[D] = set()
        self.ordered: list[D] = []
        """The same, for routing."""
        parts = terms(subscription.expression)
        self.entity: str | None = None
        """With each of its scopes, its place in the index."""
        self.parts = parts
        """What is left to test there."""
        if (fixed := fixed_entity(parts)) is not None:
            self.entity, self.parts = fixed


class Index(Generic[D]):
    """Iterating gives the rows in the order in which they came."""

    def __init__(self) -> None:
        self._rows: dict[SubscriptionId, Row[D]] = {}
        self._places: dict[str, dict[str | None, Bucket[Row[D]]]] = {}
        """By scope, and by entity, which is None where a subscription fixes none."""
        self._deadlines: list[tuple[int, SubscriptionId]] = []
        self._is_first_current = True
        """Whether the first deadline is known to be that of a row, or there is none. It is asked more often than rows
        change."""

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Row[D]]:
        return iter(self._rows.values())

    def get(self, sid: SubscriptionId) -> Row[D] | None:
        return self._rows.get(sid)

    def of_scope(self, scope: str) -> Iterator[Row[D]]:
        """The rows of subscriptions with this scope."""
        for bucket in self._places.get(scope, {}).values():
            yield from bucket

    def add(self, subscription: Subscription, destination: D) -> None:
        """Also renews. One content is that of all its destinations: the one that expires last, if they disagree.

        Were it the newest, two brokers with a client that has moved between them could tell each other of it for ever.
        """
        row = self._rows.get(subscription.id)
        if row is None or _is_better(subscription, row, destination):
            row = self._replace(row, subscription)
        row.destinations.add(destination)
        row.ordered = _ordered(row.destinations)

    def remove(self, sid: SubscriptionId, destination: D) -> bool:
        """Whether it was there."""
        row = self._rows.get(sid)
        if row is None or destination not in row.destinations:
            return False
        row.destinations.remove(destination)
        row.ordered = _ordered(row.destinations)
        if not row.destinations:
            self._unlink(row)
        return True

    def is_due(self, now_ms: int) -> bool:
        """Whether any may expire at ``now_ms`` or earlier. Mostly none does."""
        return bool(self._deadlines) and self._deadlines[0][0] <= now_ms

    def expire(self, now_ms: int) -> list[Row[D]]:
        """Remove all that expire at ``now_ms`` or earlier."""
        expired: list[Row[D]] = []
        while (deadline := self.next_expiry()) is not None and deadline <= now_ms:
            row = self._rows[self._deadlines[0][1]]
            self._unlink(row)
            expired.append(row)
        return expired

    def next_expiry(self) -> int | None:
        """ms since 1970; None if it is empty."""
        if not self._is_first_current:
            while self._deadlines and not self._is_current(*self._deadlines[0]):
                heappop(self._deadlines)
            self._is_first_current = True
        return self._deadlines[0][0] if self._deadlines else None

    def match(self, notification: Notification) -> list[Row[D]]:
        """The subscriptions that it satisfies, in an order that depends only on their history."""
        found: list[Row[D]] = []
        places = self._places.get(notification.scope)
        if places is not None:
            bucket = places.get(notification.entity_id)
            if bucket is not None:
                bucket.match(notification, found)
            bucket = places.get(None)
            if bucket is not None:
                bucket.match(notification, found)
        return found

    def check_invariants(self) -> None:
        """Raises ``AssertionError``."""
        buckets = [bucket for places in self._places.values() for bucket in places.values()]
        assert all(self._places.values()) and all(buckets), "an empty place is kept"
        placed = Counter(row.subscription.id for bucket in buckets for row in bucket)
        scopes = Counter({sid: len(set(row.subscription.scopes)) for sid, row in self._rows.items()})
        assert placed == scopes, "the places and the rows differ"
        for sid, row in self._rows.items():
            assert row.subscription.id == sid
            assert row.destinations, f"{sid} has no destination"
            assert row.ordered == _ordered(row.destinations)
        assert len(self._deadlines) <= 2 * len(self._rows) + _SLACK, "the heap has grown"
        assert {sid for _, sid in self._deadlines} >= set(self._rows)

    def _replace(self, old: Row[D] | None, subscription: Subscription) -> Row[D]:
        row: Row[D] = Row(subscription)
        if old is not None:
            row.destinations, row.ordered = old.destinations, old.ordered
            self._unlink(old)
        self._rows[subscription.id] = row
        for scope in dict.fromkeys(subscription.scopes):
            bucket = self._places.setdefault(scope, {}).setdefault(row.entity, Bucket())
            bucket.add(subscription.id, row.parts, row)
        heappush(self._deadlines, (subscription.expires, subscription.id))
        self._is_first_current = False
        return row

    def _unlink(self, row: Row[D]) -> None:
        sid = row.subscription.id
        del self._rows[sid]
        self._is_first_current = False
        for scope in dict.fromkeys(row.subscription.scopes):
            places = self._places[scope]
            places[row.entity].remove(sid, row.parts, row)
            if not places[row.entity]:
                del places[row.entity]
                if not places:
                    del self._places[scope]
        if len(self._deadlines) > 2 * len(self._rows) + _SLACK:
            self._deadlines = [(one.subscription.expires, one.subscription.id) for one in self]
            heapify(self._deadlines)

    def _is_current(self, expires: int, sid: SubscriptionId) -> bool:
        row = self._rows.get(sid)
        return row is not None and row.subscription.expires == expires


def _ordered(destinations: set[D]) -> list[D]:
    return sorted(destinations) if len(destinations) > 1 else list(destinations)  # type: ignore[type-var]


def _is_better(subscription: Subscription, row: Row[D], destination: D) -> bool:
    known = row.subscription
    if subscription is known or (subscription == known and repr(subscription) == repr(known)):
        return False  # in Python 1, 1.0 and true are equal
    return subscription.expires >= known.expires or row.destinations <= {destination}
