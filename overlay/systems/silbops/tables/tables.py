"""All tables of a broker, and routing by them (seed 002, section 7)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import NamedTuple, TypeVar

from overlay.systems.silbops.content.filters import matches
from overlay.systems.silbops.content.values import Values
from overlay.systems.silbops.index import Access, Index
from overlay.systems.silbops.scope.compiling import Test, compiled
from overlay.systems.silbops.scope.evaluation import ScopeError
from overlay.systems.silbops.tables.contexts import Contexts
from overlay.systems.silbops.tables.outlet import Difference, Outlet
from overlay.systems.silbops.tables.rows import Advertisement, Context, Key, Kind, Link, Owner, Row, Subscription

_One = TypeVar("_One")


class Delivery(NamedTuple):
    link: Link
    keys: tuple[Key, ...]
    """Of the subscriptions that it satisfies, for a client; empty for a broker."""


class Tables:
    """A neighbour is told differences from ``connect`` to ``drop_link``."""

    def __init__(self, index: Callable[[], Index[Row]] = Access, *, is_covering: bool = True) -> None:
        self.contexts = Contexts()
        self.scope_errors = 0
        """Functions that met unlike types, a division by zero or a result that is not finite."""
        self._subscriptions: dict[Key, dict[Link, Row]] = {}
        self._advertisements: dict[Key, dict[Link, Advertisement]] = {}
        self._keys: dict[Link, tuple[dict[Key, None], dict[Key, None]]] = {}
        """Subscriptions and advertisements by link."""
        self._outlets: dict[Link, Outlet] = {}
        self._index: Index[Row] = index()
        self._is_covering = is_covering
        self._numbers = count()

    # ---- links

    def connect(self, link: Link) -> None:
        """A new neighbour, which knows nothing from here and has told nothing."""
        outlet = self._outlets[link] = Outlet(self.contexts, is_covering=self._is_covering)
        for key in self._advertisements:
            outlet.offer_advertisement(key, self._advertisement_for(link, key))

    def drop_link(self, link: Link) -> None:
        """It is lost, with all that came by it."""
        self._outlets.pop(link, None)
        subscriptions, advertisements = self._keys.pop(link, ({}, {}))
        for key in list(subscriptions):
            self.unsubscribe(link, key)
        for key in list(advertisements):
            self.unadvertise(link, key)
        for owner in self.contexts.of_link(link):
            self.forget(link, owner)

    def rows(self) -> int:
        """Subscriptions, one for each link that they came by."""
        return len(self._index)

    def rows_forwarded(self) -> int:
        return sum(outlet.forwarded for outlet in self._outlets.values())

    def advertised(self) -> int:
        """Advertisements, one for each link that they came by."""
        return sum(map(len, self._advertisements.values()))

    def subscription(self, link: Link, key: Key) -> Subscription | None:
        """That came by this link."""
        row = self._subscriptions.get(key, {}).get(link)
        return None if row is None else row.subscription

    # ---- changes, by the link of the message

    def subscribe(self, link: Link, one: Subscription) -> None:
        """Add it, or replace the one with its key."""
        rows = self._subscriptions.setdefault(one.key, {})
        known = rows.get(link)
        if known is not None:
            if known.subscription == one:
                return
            self._index.remove(known)
        row = rows[link] = Row.of(one, link, next(self._numbers))
        self._index.add(row, one.filter)
        self._keys_of(link)[0][one.key] = None
        self._offer_subscription(one.key)

    def unsubscribe(self, link: Link, key: Key) -> bool:
        """Whether it was known."""
        rows = self._subscriptions.get(key, {})
        row = rows.pop(link, None)
        if row is None:
            return False
        if not rows:
            del self._subscriptions[key]
        self._index.remove(row)
        self._let_go(link, 0, key)
        self._offer_subscription(key)
        return True

    def advertise(self, link: Link, one: Advertisement) -> None:
        """Add it, or replace the one with its key."""
        links = self._advertisements.setdefault(one.key, {})
        if links.get(link) == one:
            return
        links[link] = one
        self._keys_of(link)[1][one.key] = None
        outlet = self._outlets.get(link)
        if outlet is not None and outlet.publishers.put(one):
            self._offer_all(link)
        self._offer_advertisement(one.key)

    def unadvertise(self, link: Link, key: Key) -> bool:
        """Whether it was known."""
        links = self._advertisements.get(key, {})
        if links.pop(link, None) is None:
            return False
        if not links:
            del self._advertisements[key]
        self._let_go(link, 1, key)
        outlet = self._outlets.get(link)
        if outlet is not None and outlet.publishers.drop(key):
            self._offer_all(link)
        self._offer_advertisement(key)
        return True

    def set_context(self, link: Link, owner: Owner, context: Context) -> bool:
        """Whether it is newer than what was known."""
        if link in self._outlets:
            self._outlets[link].heard_context(owner, context.version)
        is_newer = self.contexts.put(owner, context, link)
        if is_newer:
            self._touch_context(owner)
        return is_newer

    def forget(self, link: Link, owner: Owner) -> None:
        """The context comes by this link no longer."""
        if self.contexts.take_off(owner, link):
            self._touch_context(owner)

    # ---- notifications

    def route(self, link: Link, notification: Values, context: Values, admit: Test | None = None) -> list[Delivery]:
        """Where a notification goes that came by ``link``; ``context`` is its publisher's.

        Content first, context only then; a broker gets it once, so once it is chosen nothing is tested for it.
        """
        found: dict[Link, list[Key]] = {}
        for row in self._index.match(notification):
            to = row.link
            if to == link or (to.kind is Kind.BROKER and to in found):
                continue
            if row.test is None or self._holds(row, context):
                found.setdefault(to, []).append(row.subscription.key)
        return [
            Delivery(to, () if to.kind is Kind.BROKER else tuple(sorted(keys))) for to, keys in sorted(found.items())
        ]

    def _holds(self, row: Row, context: Values) -> bool:
        own = self.contexts.get(row.subscription.owner)
        if own is None or row.test is None:
            return False
        try:
            return row.test(context, own.values)
        except ScopeError:
            self.scope_errors += 1
            return False

    def scanned(self, link: Link, notification: Values, context: Values, admit: Test | None = None) -> list[Delivery]:
        """As ``route``, by a test of every row: the oracle."""
        found: dict[Link, list[Key]] = {}
        for key, rows in self._subscriptions.items():
            for to, row in rows.items():
                one = row.subscription
                if to != link and matches(one.filter, notification) and self._is_met(one, context, admit):
                    found.setdefault(to, []).append(key)
        return [
            Delivery(to, () if to.kind is Kind.BROKER else tuple(sorted(keys))) for to, keys in sorted(found.items())
        ]

    def _is_met(self, one: Subscription, context: Values, admit: Test | None) -> bool:
        own = self.contexts.get(one.owner)
        tests = [test for test in (one.scope and compiled(one.scope), admit) if test]
        try:
            return own is not None and all(test(context, own.values) for test in tests) if tests else True
        except ScopeError:
            return False

    # ---- what neighbours are to be told

    def differences(self) -> list[tuple[Link, Difference]]:
        """What has changed for each neighbour since the last call."""
        several = ((link, outlet.difference()) for link, outlet in self._outlets.items())
        return [(link, one) for link, one in several if one]

    def check_invariants(self) -> None:
        """That what was told is what the tables say. To be called after ``differences``. Raises ``AssertionError``."""
        self.contexts.check_invariants()
        assert len(self._index) == sum(map(len, self._subscriptions.values()))
        assert all(self._subscriptions.values())
        assert all(self._advertisements.values())
        for link, outlet in self._outlets.items():
            advertised = {key: self._advertisement_for(link, key) for key in self._advertisements}
            offered = {key: self._subscription_for(link, key) for key in self._subscriptions}
            outlet.check_invariants(_present(advertised), _present(offered))

    def _keys_of(self, link: Link) -> tuple[dict[Key, None], dict[Key, None]]:
        return self._keys.setdefault(link, ({}, {}))

    def _let_go(self, link: Link, which: int, key: Key) -> None:
        keys = self._keys.get(link)
        if keys is not None:
            del keys[which][key]
            if not any(keys):
                del self._keys[link]

    def _offer_all(self, link: Link) -> None:
        outlet = self._outlets[link]
        for key in sorted(self._subscriptions):
            outlet.offer_subscription(key, self._subscription_for(link, key))

    def _offer_subscription(self, key: Key) -> None:
        for link, outlet in self._outlets.items():
            outlet.offer_subscription(key, self._subscription_for(link, key))

    def _subscription_for(self, link: Link, key: Key) -> Subscription | None:
        """The newest that came by another link."""
        rows = (row for row in self._subscriptions.get(key, {}).values() if row.link != link)
        newest = max(rows, key=lambda row: row.number, default=None)
        return None if newest is None else newest.subscription

    def _offer_advertisement(self, key: Key) -> None:
        for link, outlet in self._outlets.items():
            outlet.offer_advertisement(key, self._advertisement_for(link, key))

    def _advertisement_for(self, link: Link, key: Key) -> Advertisement | None:
        """One that came by another link."""
        links = self._advertisements.get(key, {})
        return next((links[one] for one in sorted(links) if one != link), None)

    def _touch_context(self, owner: Owner) -> None:
        for outlet in self._outlets.values():
            outlet.touch_context(owner)


def _present(rows: dict[Key, _One | None]) -> dict[Key, _One]:
    return {key: one for key, one in rows.items() if one is not None}
