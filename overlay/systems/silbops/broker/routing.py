"""Publications: to neighbours, to own clients, and to those that have moved (seed 002, section 7)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from overlay.systems.silbops.broker.client import Client, publisher_key
from overlay.systems.silbops.broker.clients import Clients
from overlay.systems.silbops.broker.leaving import Leaving
from overlay.systems.silbops.broker.outcomes import outcomes
from overlay.systems.silbops.broker.station import Station
from overlay.systems.silbops.content.values import Values
from overlay.systems.silbops.publishing import cut, restricted
from overlay.systems.silbops.scope.compiling import compiled
from overlay.systems.silbops.tables import Delivery, Kind, Link
from overlay.systems.silbops.tables.rows import Context, neighbour
from overlay.systems.silbops.wire import messages as m


class Routed(NamedTuple):
    """The last publication, for the check of local exactness."""

    link: Link
    publication: m.Pub
    context: Values
    deliveries: Sequence[Delivery]


class Routing:
    def __init__(self, station: Station, clients: Clients, leaving: Leaving) -> None:
        self._station, self._clients, self._leaving = station, clients, leaving
        settings = station.settings
        self.has_publisher_scope = settings.has_publisher_scope
        self._is_announced = settings.forwards_contexts
        self.last: Routed | None = None

    def publish(self, client: Client, message: m.Publish, context: Values) -> None:
        """An own client's; ``context`` is cut to what its advertisements allow."""
        self._station.counters["published"] += 1
        pub = m.Pub(client.owner, message.number, message.notification, context, message.scope)
        self._route(client.link, pub, context, self._announced(client, message.context))

    def forward(self, link: Link, pub: m.Pub) -> None:
        """A neighbour's."""
        if not isinstance(pub.context, int):
            self._route(link, pub, pub.context)
            return
        tables = self._station.tables
        announced = tables.announced.get(link, pub.publisher)
        if announced is None or announced.version != pub.context:
            self._station.counters["dropped_no_context"] += 1
            if self._station.tracer is not None:
                why = "the publisher's context is not known here"
                self._station.tracer.dropped(pub, link.name, self._station.now, why)
            return
        offers = tables.advertisements_of(link, pub.publisher)
        self._route(link, pub, cut(announced.values, offers, pub.notification), announced)

    def passed(self, note: m.Notify, broker: str) -> None:
        """``broker``, the old one of an own client, passes it on. What the client has given up meanwhile is left out,
        and what its present context does not hold.

        In the siena arm each change of context replaces subscriptions, whose filters say all: what replaced those of
        ``note`` may be satisfied, too.
        """
        self._station.trace("brought", note, broker)
        passed = note.passed
        client = None if passed is None else self._clients.of_owner(passed.owner)
        if passed is None or client is None:
            if passed is None or not self._leaving.pass_on(passed.owner, note):
                self._station.counters["passed_late"] += 1
            return
        ids = self._wanted(client, note.ids, note.notification, passed)
        if not ids and self._station.settings.is_siena:
            ids = self._wanted(client, sorted(client.subscriptions), note.notification, passed)
        if ids:
            self._notify(client, m.Notify(note.publisher, note.number, note.notification, ids))

    # ---- inner

    def _announced(self, client: Client, values: Values) -> Context | None:
        """The publisher's context, if it is told apart from publications: all that its advertisements allow."""
        if not self._is_announced:
            return None
        allowed = frozenset[str]().union(*(one.variables for one in client.advertisements.values()))
        tables = self._station.tables
        context = tables.announced.renew(client.link, client.owner, restricted(values, allowed))
        if context is not None:
            tables.announce(client.link, client.owner, context)
        return tables.announced.get(client.link, client.owner)

    def _route(self, link: Link, pub: m.Pub, context: Values, announced: Context | None = None) -> None:
        """``announced``: what its context is taken from, if that is told apart."""
        admit = None if pub.scope is None else compiled(pub.scope)
        deliveries = self._station.tables.route(link, pub.notification, context, admit)
        self.last = Routed(link, pub, context, deliveries)
        station = self._station
        if station.tracer is not None and station.tracer.traces(pub.number):
            found = outcomes(station.tables, link, pub, context, deliveries)
            station.tracer.routed(link, pub, found, station.now)
        brokers = []
        publisher = 0
        for to, keys in deliveries:
            if to.kind is Kind.BROKER:
                brokers.append(to.name.encode())
                continue
            publisher = publisher or publisher_key(pub.publisher)
            note = m.Notify(publisher, pub.number, pub.notification, tuple(number for _, number in keys))
            if to.kind is Kind.CLIENT:
                self._notify(self._clients.named(to.name), note)
            else:
                owner = bytes.fromhex(to.name)
                self._leaving.pass_on(owner, replace(note, passed=m.Passed(owner, context, pub.scope)))
        if brokers:
            station.counters["forwarded"] += len(brokers)
            if announced is not None:
                pub = replace(pub, context=announced.version)
                self._announce(brokers, pub.publisher, announced)
            station.pressure.send_each(brokers, pub)

    def _announce(self, brokers: Iterable[bytes], publisher: bytes, context: Context) -> None:
        """Ahead of the publication that needs it."""
        station = self._station
        for peer in brokers:
            if station.tables.must_announce(neighbour(peer.decode()), publisher, context):
                station.pressure.send(peer, m.Pctx(publisher, context))

    def _notify(self, client: Client, note: m.Notify) -> None:
        """No client gets its own, which may come by an old broker."""
        station = self._station
        if note.publisher == client.publisher:
            return
        if client.repeats is not None and not client.repeats.is_new(note.publisher, note.number):
            station.counters["repeats"] += 1
            station.trace("repeated", note, client.name)
        else:
            self._clients.hand(client, note)

    def _wanted(self, client: Client, ids: Iterable[int], notification: Values, passed: m.Passed) -> tuple[int, ...]:
        """Which of its subscriptions are satisfied, as its rows are now."""
        tables, admit = self._station.tables, None if passed.scope is None else compiled(passed.scope)
        several = ((number, tables.subscription(client.link, client.key(number))) for number in ids)
        return tuple(
            number
            for number, one in several
            if one is not None and tables.is_satisfied(one, notification, passed.context, admit)
        )

    def check_invariants(self) -> None:
        """Local exactness: the last publication went where a test of every row sends it. Raises ``AssertionError``."""
        last = self.last
        if last is not None:
            admit = None if last.publication.scope is None else compiled(last.publication.scope)
            expected = self._station.tables.scanned(last.link, last.publication.notification, last.context, admit)
            assert last.deliveries == expected
