"""All tables of a broker, and routing by them (seed 002, section 7)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import chain
from typing import NamedTuple, TypeVar

from overlay.systems.silbops.content.filters import matches
from overlay.systems.silbops.content.values import Values
from overlay.systems.silbops.index import Access, Index
from overlay.systems.silbops.scope.compiling import Test, compiled
from overlay.systems.silbops.scope.evaluation import ScopeError, holds
from overlay.systems.silbops.tables.announced import Announced
from overlay.systems.silbops.tables.columns import Columns
from overlay.systems.silbops.tables.contexts import Contexts
from overlay.systems.silbops.tables.outlet import Difference, Outlet
from overlay.systems.silbops.tables.pruning import NEVER
from overlay.systems.silbops.tables.rows import (
    Advertisement,
    Context,
    Key,
    Kind,
    Link,
    Numbered,
    Owner,
    Port,
    Row,
    Subscription,
)
from overlay.systems.silbops.tables.testing import Tester

_One = TypeVar("_One")
SCOPE_BATCH = 48
"""Where columns begin to pay, as measured."""


class Delivery(NamedTuple):
    link: Link
    keys: tuple[Key, ...]
    """Of the subscriptions that it satisfies, for a client; empty for a broker."""


class Tables:
    """A neighbour is told differences from ``connect`` to ``drop_link``."""

    def __init__(
        self,
        index: Callable[[], Index] = Access,
        *,
        is_covering: bool = True,
        scope_batch: int = SCOPE_BATCH,
        has_publisher_scope: bool = False,
        prune: str = NEVER,
    ) -> None:
        """``scope_batch``: candidates from which their functions are tested together; 0: never."""
        self._columns = Columns() if scope_batch else None
        self._rows = Numbered()
        self.contexts = Contexts(self._columns)
        self.announced = Announced()
        self._has_publisher_scope, self._prune = has_publisher_scope, prune
        self.candidates = 0
        """Rows that notifications matched by their content."""
        self._tester = Tester(self._rows, self._columns, scope_batch)
        self._subscriptions: dict[Key, Row] = {}
        """The newest row of each key; mostly it is the only one."""
        self._advertisements: dict[Key, dict[Link, Advertisement]] = {}
        self._ports: dict[Link, Port] = {}
        """Links by which something came."""
        self._outlets: dict[Link, Outlet] = {}
        self._index: Index = index()
        self._is_covering = is_covering

    @property
    def scope_tests(self) -> int:
        return self._tester.tests

    @property
    def scope_errors(self) -> int:
        """Functions that met unlike types, a division by zero or a result that is not finite."""
        return self._tester.errors

    # ---- links

    def connect(self, link: Link) -> None:
        """A new neighbour, which knows nothing from here and has told nothing."""
        outlet = self._outlets[link] = Outlet(
            link,
            self.contexts,
            self.announced,
            is_covering=self._is_covering,
            has_publisher_scope=self._has_publisher_scope,
            prune=self._prune,
        )
        for key in self._advertisements:
            outlet.offer_advertisement(key, self._advertisement_for(link, key))
            outlet.touch_publisher(key.owner)

    def drop_link(self, link: Link) -> None:
        """It is lost, with all that came by it."""
        self._outlets.pop(link, None)
        port = self._ports.get(link)
        if port is not None:
            for key in list(port.subscriptions):
                self.unsubscribe(link, key)
            for key in list(port.advertisements):
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

    def all_rows(self) -> Iterator[Row]:
        """Subscriptions by the links that they came by."""
        return chain.from_iterable(map(self._rows_of, self._subscriptions))

    def all_advertisements(self) -> Iterator[tuple[Link, Advertisement]]:
        """By the links that they came by."""
        return chain.from_iterable(links.items() for links in self._advertisements.values())

    def forwarded(self, link: Link) -> int:
        """Subscriptions that a neighbour was told."""
        outlet = self._outlets.get(link)
        return 0 if outlet is None else outlet.forwarded

    @property
    def neighbours(self) -> Collection[Link]:
        return self._outlets.keys()

    def keys_of(self, link: Link) -> Collection[Key]:
        """Subscriptions that came by this link."""
        port = self._ports.get(link)
        return () if port is None else port.subscriptions.keys()

    def subscription(self, link: Link, key: Key) -> Subscription | None:
        """That came by this link."""
        port = self._ports.get(link)
        row = None if port is None else port.subscriptions.get(key)
        return None if row is None else row.subscription

    # ---- changes, by the link of the message

    def subscribe(self, link: Link, one: Subscription) -> None:
        """Add it, or replace the one with its key."""
        port = self._port(link)
        known = port.subscriptions.get(one.key)
        if known is not None:
            if known.subscription == one:
                return
            self._remove(known)
        row = self._row(one, port)
        port.subscriptions[one.key] = row
        row.older = self._subscriptions.get(one.key)
        self._subscriptions[one.key] = row
        number = self._rows.enter(row)
        if self._columns is not None:
            self._columns.enter(row)
        row.subscription = one._replace(filter=self._index.add(number, one.filter))
        self._offer_subscription(one.key)

    def unsubscribe(self, link: Link, key: Key) -> bool:
        """Whether it was known."""
        port = self._ports.get(link)
        row = port.subscriptions.pop(key, None) if port is not None else None
        if row is None:
            return False
        self._remove(row)
        self._close(row.port)
        self._offer_subscription(key)
        return True

    def _row(self, one: Subscription, port: Port) -> Row:
        if one.scope is None:
            return Row(one, port, None, None)
        function = compiled(one.scope)
        return Row(one, port, function, self.contexts.read(one.owner, function))

    def _remove(self, row: Row) -> None:
        """From all but its port."""
        key = row.subscription.key
        newer = next((one for one in self._rows_of(key) if one.older is row), None)
        if newer is not None:
            newer.older = row.older
        elif row.older is not None:
            self._subscriptions[key] = row.older
        else:
            del self._subscriptions[key]
        self._index.remove(row.number)
        self._rows.leave(row)
        if self._columns is not None:
            self._columns.leave(row)
        if row.known is not None:
            self.contexts.unread(row.known)

    def advertise(self, link: Link, one: Advertisement) -> None:
        """Add it, or replace the one with its key."""
        links = self._advertisements.setdefault(one.key, {})
        if links.get(link) == one:
            return
        links[link] = one
        self._port(link).advertisements[one.key] = one
        outlet = self._outlets.get(link)
        if outlet is not None and outlet.put_publisher(one):
            self._offer_all(link)
        self._offer_advertisement(one.key)

    def unadvertise(self, link: Link, key: Key) -> bool:
        """Whether it was known."""
        links = self._advertisements.get(key, {})
        if links.pop(link, None) is None:
            return False
        if not links:
            del self._advertisements[key]
        port = self._ports[link]
        del port.advertisements[key]
        self._close(port)
        outlet = self._outlets.get(link)
        if outlet is not None and outlet.drop_publisher(key):
            self._offer_all(link)
        self._offer_advertisement(key)
        if len(self.announced) and not any(one.owner == key.owner for one in self.advertisements_of(link, key.owner)):
            self._let_publisher_go(link, key.owner)
        return True

    def set_context(self, link: Link, owner: Owner, context: Context) -> bool:
        """Whether it is newer than what was known."""
        if self._outlets and link in self._outlets:
            self._outlets[link].heard_context(owner, context.version)
        is_newer = self.contexts.put(owner, context, link)
        if is_newer:
            self._touch_context(owner)
        return is_newer

    def forget(self, link: Link, owner: Owner) -> None:
        """The context comes by this link no longer."""
        if self.contexts.take_off(owner, link):
            self._touch_context(owner)

    # ---- contexts of publishers, if they are told apart from publications

    def announce(self, link: Link, owner: Owner, context: Context) -> None:
        """Of a publisher with an advertisement by this link."""
        outlet = self._outlets.get(link)
        if outlet is not None and not outlet.publishers.has(owner):
            return
        self.announced.put(link, owner, context)
        self._touch_publisher(link, owner)

    def must_announce(self, link: Link, owner: Owner, context: Context) -> bool:
        """As ``Outlet.must_announce``, for a neighbour."""
        return self._outlets[link].must_announce(owner, context)

    def newly_idle(self) -> list[tuple[Link, Key]]:
        """Subscriptions that a neighbour need not know for now, since the last call."""
        return [(link, key) for link, outlet in self._outlets.items() for key in outlet.newly_idle()]

    def ripen(self, link: Link, key: Key) -> None:
        """It was idle for long enough."""
        outlet = self._outlets.get(link)
        if outlet is not None:
            outlet.ripen(key)

    def advertisements_of(self, link: Link, owner: Owner) -> Iterable[Advertisement]:
        """Of a publisher, by this link."""
        outlet = self._outlets.get(link)
        if outlet is not None:
            return outlet.publishers.of(owner)
        port = self._ports.get(link)
        return () if port is None else (one for one in port.advertisements.values() if one.owner == owner)

    def _let_publisher_go(self, link: Link, owner: Owner) -> None:
        if self.announced.drop(link, owner):
            self._touch_publisher(link, owner)

    def _touch_publisher(self, link: Link, owner: Owner) -> None:
        for other, outlet in self._outlets.items():
            if other == link:
                outlet.weigh_publishers()
            else:
                outlet.touch_publisher(owner)

    # ---- notifications

    def route(self, link: Link, notification: Values, context: Values, admit: Test | None = None) -> list[Delivery]:
        """Where a notification goes that came by ``link``; ``context`` and ``admit`` are its publisher's.

        Content first, context only then; a broker gets it once, so once it is chosen nothing is tested for it.
        """
        numbers = self._index.match(notification)
        self.candidates += len(numbers)
        came_by = self._ports.get(link)
        taken = set() if came_by is None else {came_by}
        found: dict[Port, list[Key]] = {}
        for row in self._tester.passing(numbers, context, taken):
            port = row.port
            if port in taken or (admit is not None and not self._admits(admit, context, row)):
                continue
            found.setdefault(port, []).append(row.subscription.key)
            if port.link.kind is Kind.BROKER:
                taken.add(port)
        deliveries = [Delivery(port.link, () if port in taken else tuple(sorted(keys))) for port, keys in found.items()]
        deliveries.sort()
        return deliveries

    def _admits(self, admit: Test, context: Values, row: Row) -> bool:
        own = self.contexts.get(row.subscription.owner)
        return self._tester.holds(admit, context, {} if own is None else own.values)

    def touched(self, notification: Values, about: Owner | None) -> list[tuple[Key, Link]]:
        """Rows that match the content, and all rows of a client, in order."""
        rows = set(self._rows.of(self._index.match(notification)))
        rows.update(row for key in self._subscriptions if key.owner == about for row in self._rows_of(key))
        return sorted((row.subscription.key, row.port.link) for row in rows)

    def told(self, owner: Owner) -> Iterator[tuple[Link, Key, str]]:
        """For each neighbour and subscription of a client that it might know: as ``Outlet.state``."""
        for link, outlet in self._outlets.items():
            for key in sorted(key for key in self._subscriptions if key.owner == owner):
                if self._subscription_for(link, key) is not None:
                    yield link, key, outlet.state(key)

    def scanned(self, link: Link, notification: Values, context: Values, admit: Test | None = None) -> list[Delivery]:
        """As ``route``, by a test of every row: the oracle."""
        found: dict[Link, list[Key]] = {}
        for row in self.all_rows():
            to, one = row.port.link, row.subscription
            if to != link and self.is_satisfied(one, notification, context, admit):
                found.setdefault(to, []).append(one.key)
        return [
            Delivery(to, () if to.kind is Kind.BROKER else tuple(sorted(keys))) for to, keys in sorted(found.items())
        ]

    def is_satisfied(self, one: Subscription, notification: Values, context: Values, admit: Test | None) -> bool:
        """Whether a publication satisfies it, with the context of its owner that is known here."""
        if not matches(one.filter, notification):
            return False
        own = self.contexts.get(one.owner)
        values = {} if own is None else own.values
        try:
            is_true = one.scope is None or (own is not None and holds(one.scope, context, values))
            return is_true and (admit is None or admit(context, values))
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
        rows = list(self.all_rows())
        assert len(self._index) == len(rows)
        assert all(self._ports[row.port.link].subscriptions[row.subscription.key] is row for row in rows)
        assert all(self._advertisements.values())
        for link, outlet in self._outlets.items():
            advertised = {key: self._advertisement_for(link, key) for key in self._advertisements}
            offered = {key: self._subscription_for(link, key) for key in self._subscriptions}
            outlet.check_invariants(_present(advertised), _present(offered))

    def _port(self, link: Link) -> Port:
        port = self._ports.get(link)
        if port is None:
            port = self._ports[link] = Port(link)
        return port

    def _close(self, port: Port) -> None:
        """If nothing is left that came by it."""
        if not port:
            del self._ports[port.link]

    def _offer_all(self, link: Link) -> None:
        outlet = self._outlets[link]
        for key in sorted(self._subscriptions):
            outlet.offer_subscription(key, self._subscription_for(link, key))

    def _offer_subscription(self, key: Key) -> None:
        for link, outlet in self._outlets.items():
            outlet.offer_subscription(key, self._subscription_for(link, key))

    def _subscription_for(self, link: Link, key: Key) -> Subscription | None:
        """The newest that came by another link."""
        return next((row.subscription for row in self._rows_of(key) if row.port.link != link), None)

    def _rows_of(self, key: Key) -> Iterator[Row]:
        """One for each link that it came by, the newest first."""
        row = self._subscriptions.get(key)
        while row is not None:
            yield row
            row = row.older

    def _offer_advertisement(self, key: Key) -> None:
        for link, outlet in self._outlets.items():
            outlet.offer_advertisement(key, self._advertisement_for(link, key))
            outlet.touch_publisher(key.owner)

    def _advertisement_for(self, link: Link, key: Key) -> Advertisement | None:
        """One that came by another link."""
        links = self._advertisements.get(key, {})
        return next((links[one] for one in sorted(links) if one != link), None)

    def _touch_context(self, owner: Owner) -> None:
        for outlet in self._outlets.values():
            outlet.touch_context(owner)


def _present(rows: dict[Key, _One | None]) -> dict[Key, _One]:
    return {key: one for key, one in rows.items() if one is not None}
