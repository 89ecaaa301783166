"""Subscriptions of clients, and notifications: SUBSCRIBE, PUBLISH, FORWARD, NOTIFY.

::

    PUBLISH ─┐                                     ┌─> NOTIFY to clients
             ├─> known? ─> cache ─> Tables.route ──┤
    FORWARD ─┘                                     └─> FORWARD to neighbours

    SUBSCRIBE ─> cache ─> Tables.subscribe; NOTIFY of what was found
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from overlay.messages.codec import pack
from overlay.systems.federation.broker.cache import Cache
from overlay.systems.federation.broker.carrying import Carrying
from overlay.systems.federation.broker.clients import Clients
from overlay.systems.federation.broker.duplicates import Duplicates
from overlay.systems.federation.broker.neighbours import Neighbours
from overlay.systems.federation.broker.parts import portions
from overlay.systems.federation.broker.station import Station
from overlay.systems.federation.broker.tracing import Tracer
from overlay.systems.federation.settings import IMPERFECT
from overlay.systems.federation.tables.destinations import Destination, client, neighbour
from overlay.systems.federation.tables.tables import Delivery
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire.broker_table import MAX_PATH
from overlay.systems.federation.wire.composites import SUBSCRIPTION
from overlay.systems.federation.wire.values import Notification, NotificationId, Role, Subscription, SubscriptionId

MOST_SUBSCRIPTIONS = 100_000
"""Of a client."""
MOST_OF_ALL = 1_000_000
"""In the table, those of neighbours included; beyond it, clients get no new ones."""

Refusal = tuple[m.Code, str]
Answers = dict[NotificationId, tuple[Notification, list[Subscription]]]
"""What the cache has, and for which subscriptions."""


class Notifying:
    def __init__(self, station: Station, clients: Clients, neighbours: Neighbours) -> None:
        self._clients, self._neighbours = clients, neighbours
        self._peers, self._tables, self._counters = station.peers, station.tables, station.counters
        self._name = station.name
        self._station, self._tracer = station, station.tracer
        self._has_paths = station.is_flooded
        self._is_merging_imperfect = station.settings.merging == IMPERFECT
        self._has_cache = station.settings.cache_cap > 0
        self._duplicates = Duplicates()
        self.cache = Cache(station.settings.cache_cap)
        self.carrying: Carrying | None = None
        """Of a mobile broker."""

    # ---- subscriptions

    def subscribe(self, name: str, message: m.Subscribe) -> None:
        if not self._clients.serves(name, message):
            return
        if (refusal := self._refusal_of_subscriptions(name, message)) is not None:
            self._peers.refuse(name, message, *refusal)
            return
        self._peers.accept(name, message.req)
        answers = self._take(name, message)
        self._trace(name, message, answers)
        if message.added:
            self._clients.subscribed(name)
        for notification, subscriptions in answers:
            self._clients.notify(name, notification, subscriptions, is_cached=True)

    def _take(self, name: str, message: m.Subscribe) -> list[tuple[Notification, list[Subscription]]]:
        """Into the table; returns what the cache has for new ones."""
        wall_ms, destination = self._peers.wall_ms, client(name)
        added: list[Subscription] = []
        removed = list(message.removed)
        answers: Answers = {}
        self.cache.begin()
        for one in {one.id: one for one in message.added}.values():
            row = self._tables.subscriptions.get(one.id)
            is_new = row is None or destination not in row.destinations
            if one.expires <= wall_ms:
                removed.append(one.id)
            elif not is_new and row is not None and row.subscription.expires == one.expires:
                continue
            elif not (is_new and self._is_answered(one, wall_ms, answers)):
                added.append(one)
        self._tables.subscribe(name, added, removed)
        return list(answers.values())

    def _trace(
        self, name: str, message: m.Subscribe, answers: Sequence[tuple[Notification, list[Subscription]]]
    ) -> None:
        if self._tracer is None:
            return
        now = self._peers.now
        self._tracer.subscribed(name, message.added, self._station.arrived, now)
        for notification, subscriptions in answers:
            for one in subscriptions:
                self._tracer.cached(one, notification.id, now)

    def _is_answered(self, one: Subscription, wall_ms: int, answers: Answers) -> bool:
        """Whether the cache ends it. What it has for it is added to ``answers``."""
        self._counters["cache_received"] += 1
        found = self.cache.answer(one, wall_ms)
        if found is None:
            return False
        self._counters["hits"] += 1
        self._counters["cache_age_ms"] += max(0, wall_ms - found.timestamp)
        answers.setdefault(found.id, (found, []))[1].append(one)
        return one.once

    def _refusal_of_subscriptions(self, name: str, message: m.Subscribe) -> Refusal | None:
        for sid in (*[one.id for one in message.added], *message.removed):
            if sid.client != name:
                return m.Code.BAD, f"The subscription {sid.number} is of {sid.client}."
        table, destination = self._tables.subscriptions, client(name)
        known: dict[SubscriptionId, Subscription] = {}
        number = 0
        for one in message.added:
            row = table.get(one.id)
            before = known.get(one.id) or (row.subscription if row else None)
            if before is not None and not _is_renewal(before, one):
                return m.Code.INVALID, f"The subscription {one.id.number} exists with other content."
            if one.id not in known and (row is None or destination not in row.destinations):
                number += 1
            known[one.id] = one
        if table.count(destination) + number > MOST_SUBSCRIPTIONS:
            return m.Code.LIMIT, f"A client has at most {MOST_SUBSCRIPTIONS:,} subscriptions."
        if number and len(table) + number > MOST_OF_ALL:
            return m.Code.LIMIT, f"This broker has at most {MOST_OF_ALL:,} subscriptions."
        return None

    # ---- notifications

    def publish(self, name: str, message: m.Publish) -> None:
        if not self._clients.serves(name, message):
            return
        if (refusal := self._refusal_of_notifications(name, message)) is not None:
            self._peers.refuse(name, message, *refusal)
            return
        source = client(name)
        for publication in message.publications:
            notification = publication.notification
            if self._is_new(notification):
                deliveries = self._route(notification, source, 0, ())
                self._count_wrong_hints(publication.satisfied, deliveries)
                if self.carrying is not None:
                    routed = [one.destination.id for one in deliveries if one.destination.is_neighbour]
                    was_stored = notification.timestamp < self._clients.since_ms(name)
                    self.carrying.add(notification, routed, was_stored=was_stored)
            self._tables.published(name, publication.satisfied)
        self._peers.accept(name, message.req)

    def forward(self, broker: str, message: m.Forward) -> None:
        if not self._neighbours.may_forward(broker):
            return
        if message.ended:
            self._tables.ended(broker, message.ended)
        if self._name in message.path or len(message.path) > MAX_PATH:
            self._counters["dropped_path"] += 1
            self._trace_dropped("looped", message.notification, broker)
        elif self._is_new(message.notification):
            deliveries = self._route(message.notification, neighbour(broker), message.hops, message.path)
            if self._is_merging_imperfect and not deliveries:
                self._counters["false_positives"] += 1
        else:
            self._trace_dropped("duplicate", message.notification, broker)

    def subscribed(self, broker: str) -> None:
        """A neighbour has sent subscriptions: what is carried may be for it."""
        for carried in () if self.carrying is None else self.carrying.owed(broker):
            notification = carried.notification
            source = client(notification.id.provider)
            for delivery in self._tables.route(notification, source, neighbour(broker)):
                carried.handed.add(broker)
                self._forward(broker, notification, 1, (), delivery)

    def check_invariants(self) -> None:
        """(I6) and (I8) of section 12. Raises ``AssertionError``."""
        self._duplicates.check_invariants()
        self.cache.check_invariants()
        if self.carrying is not None:
            self.carrying.check_invariants()

    # ---- inner

    def _is_new(self, notification: Notification) -> bool:
        if self._duplicates.is_new(notification.id, self._peers.now):
            return True
        self._counters["duplicates"] += 1
        return False

    def _route(
        self, notification: Notification, source: Destination, hops: int, path: tuple[str, ...]
    ) -> Sequence[Delivery]:
        if self._has_cache:
            self.cache.put(notification, self._peers.wall_ms)
        deliveries = self._tables.route(notification, source)
        if self._tracer is not None:
            self._trace_routed(self._tracer, notification.id, source, deliveries)
        for delivery in deliveries:
            destination = delivery.destination
            if destination.is_neighbour:
                self._forward(destination.id, notification, hops + 1, path, delivery)
            else:
                self._clients.notify(destination.id, notification, delivery.subscriptions, False, hops)
        return deliveries

    def _trace_routed(
        self, tracer: Tracer, nid: NotificationId, source: Destination, deliveries: Sequence[Delivery]
    ) -> None:
        now = self._peers.now
        if tracer.routed(nid, source, deliveries, self._station.arrived, now):
            reached = {one.destination.id for one in deliveries} | {source.id}
            brokers = self._tables.registrations.neighbours
            tracer.filtered(nid, [one for one in brokers if one not in reached], now)

    def _trace_dropped(self, step: str, notification: Notification, broker: str) -> None:
        if self._tracer is not None:
            self._tracer.dropped(step, notification.id, broker, self._peers.now)

    def _forward(
        self, broker: str, notification: Notification, hops: int, path: tuple[str, ...], delivery: Delivery
    ) -> None:
        """A path only where links form cycles: elsewhere it would end long ways."""
        if self._has_paths:
            if len(path) >= MAX_PATH:
                self._counters["dropped_path"] += 1
                return
            path = (*path, self._name)
        for ended in portions(delivery.ended):
            self._neighbours.forward(broker, notification, hops, path, ended, delivery.priority)

    def _count_wrong_hints(self, believed: Sequence[SubscriptionId], deliveries: Sequence[Delivery]) -> None:
        """What a provider believes satisfied is not looked at otherwise."""
        if believed:
            right = {sid for delivery in deliveries for sid in delivery.satisfied}
            table = self._tables.subscriptions
            self._counters["wrong_hints"] += sum(1 for sid in believed if sid not in right and table.get(sid))

    def _refusal_of_notifications(self, name: str, message: m.Publish) -> Refusal | None:
        advertisement = self._clients.get(name)
        assert advertisement is not None
        if advertisement.role is not Role.PROVIDER:
            return m.Code.INVALID, "A consumer publishes nothing."
        for publication in message.publications:
            notification = publication.notification
            if notification.id.provider != name:
                return m.Code.BAD, f"The notification {notification.id.number} is of {notification.id.provider}."
            if notification.scope not in advertisement.scopes:
                return m.Code.INVALID, f"The scope {notification.scope} is not registered."
        return None


def _is_renewal(before: Subscription, after: Subscription) -> bool:
    """Whether only the expiry differs. In Python 1, 1.0 and true are equal, in messages they are not."""
    return before is after or _content(before) == _content(after)


def _content(subscription: Subscription) -> bytes:
    content: bytes = pack(SUBSCRIPTION.write(replace(subscription, expires=0)))
    return content
