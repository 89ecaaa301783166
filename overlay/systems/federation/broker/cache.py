"""The newest notification of each entity and scope that has passed the broker (seed 001, section 10)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator
from typing import Any, Final

from overlay.systems.federation.language.compiler import Test, compiled
from overlay.systems.federation.language.conjunctions import fixed_entity, terms
from overlay.systems.federation.language.tree import And
from overlay.systems.federation.wire.values import Notification, Subscription

MOST_CACHED: Final = 10_000
MOST_TESTED: Final = 10_000
"""Notifications that are compared with the subscriptions of one message."""


Key = tuple[str, str, str]
"""Scope, id and type of the entity."""


class _Row:
    """The key is always the same object, which dictionaries find without comparing its texts."""

    __slots__ = ("key", "notification")

    def __init__(self, key: Key, notification: Notification) -> None:
        self.key: Any = key  # as ``Any``, compiled code makes no new tuple of it
        self.notification = notification


class Cache:
    """``cap`` is the largest share of subscriptions that are answered; 0 keeps nothing."""

    def __init__(self, cap: float) -> None:
        self._cap = cap
        self._rows: OrderedDict[Key, _Row] = OrderedDict()
        """The least recently used first."""
        self._of_scope: dict[str, dict[Key, None]] = {}
        """The keys of each scope, those with the newest notifications last."""
        self._types: dict[tuple[str, str], dict[str, None]] = {}
        """By scope and entity id, the types."""
        self._left = MOST_TESTED
        self.received = self.hits = 0
        """Subscriptions of local clients, and those that were answered."""

    def __len__(self) -> int:
        return len(self._rows)

    def put(self, notification: Notification, wall_ms: int) -> None:
        """Keep it, unless a newer one is valid or it has expired."""
        if not self._cap:
            return
        key = _key(notification)
        row = self._rows.get(key)
        if row is not None:
            self._replace(row, notification, wall_ms)
        elif notification.expires > wall_ms:
            self._rows[key] = _Row(key, notification)
            self._of_scope.setdefault(key[0], {})[key] = None
            self._types.setdefault(key[:2], {})[key[2]] = None
            self._shrink(wall_ms)

    def _replace(self, row: _Row, notification: Notification, wall_ms: int) -> None:
        known, key = row.notification, row.key
        if known.timestamp > notification.timestamp and known.expires > wall_ms:
            return
        if notification.expires <= wall_ms:
            self._remove(key)
            return
        row.notification = notification
        self._rows.move_to_end(key)
        of_scope = self._of_scope[key[0]]
        del of_scope[key]
        of_scope[key] = None

    def newest_first(self) -> Iterator[Notification]:
        """The last used first, expired ones included."""
        return (row.notification for row in reversed(self._rows.values()))

    def begin(self) -> None:
        """A message with subscriptions, which come next."""
        self._left = MOST_TESTED

    def answer(self, subscription: Subscription, wall_ms: int) -> Notification | None:
        """A valid notification of another client that satisfies it, the newest known of an entity.

        ``None`` if there is none, or if as many subscriptions as the cap allows were answered.
        """
        self.received += 1
        if not self.hits < self._cap * self.received:
            return None
        found = self._find(subscription, wall_ms)
        if found is not None:
            self.hits += 1
            self._rows.move_to_end(_key(found))
        return found

    def check_invariants(self) -> None:
        """(I6) and (I8) of section 12. Raises ``AssertionError``."""
        assert self.hits <= self._cap * self.received + 1, "(I6) more hits than the cap allows"
        assert len(self._rows) <= MOST_CACHED
        keys = {key for keys in self._of_scope.values() for key in keys}
        assert keys == set(self._rows) == {(*place, one) for place, types in self._types.items() for one in types}
        assert all(self._of_scope.values()) and all(self._types.values())

    # ---- inner

    def _find(self, subscription: Subscription, wall_ms: int) -> Notification | None:
        parts = terms(subscription.expression)
        entity, parts = fixed_entity(parts) or (None, parts)
        test = compiled(And(tuple(parts)))
        client, best = subscription.id.client, None
        for scope in dict.fromkeys(subscription.scopes):
            one = self._first(self._keys(scope, entity), test, client, wall_ms)
            if one is not None and (best is None or one.timestamp > best.timestamp):
                best = one
        return best

    def _keys(self, scope: str, entity: str | None) -> Iterable[Key]:
        if entity is None:
            return reversed(self._of_scope.get(scope, {}))
        return ((scope, entity, one) for one in self._types.get((scope, entity), ()))

    def _first(self, keys: Iterable[Key], test: Test, client: str, wall_ms: int) -> Notification | None:
        expired = []
        found = None
        for key in self._within_limit(keys):
            one = self._rows[key].notification
            if one.expires <= wall_ms:
                expired.append(key)
            elif one.id.provider != client and test(one):
                found = one
                break
        for key in expired:
            self._remove(key)
        return found

    def _within_limit(self, keys: Iterable[Key]) -> Iterator[Key]:
        for key in keys:
            if not self._left:
                return
            self._left -= 1
            yield key

    def _shrink(self, wall_ms: int) -> None:
        """Those that have expired are near the beginning; otherwise the first one goes."""
        rows = self._rows
        while len(rows) > 1:
            key = next(iter(rows))
            if len(rows) <= MOST_CACHED and rows[key].notification.expires > wall_ms:
                return
            self._remove(key)

    def _remove(self, key: Key) -> None:
        del self._rows[key]
        _take(self._of_scope, key[0], key)
        _take(self._types, key[:2], key[2])


def _key(notification: Notification) -> Key:
    return notification.scope, notification.entity_id, notification.entity_type


def _take(places: dict, place: object, one: object) -> None:  # type: ignore[type-arg]
    keys = places[place]
    keys.pop(one, None)
    if not keys:
        del places[place]
