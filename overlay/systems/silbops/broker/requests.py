"""What clients set, and why it is refused. OK is sent once it is applied here (seed 002, sections 2 and 6)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from overlay.systems.silbops.broker.client import ADVERTISEMENTS, SUBSCRIPTIONS, Client, State
from overlay.systems.silbops.broker.clients import Clients
from overlay.systems.silbops.broker.events import ValidityEnded
from overlay.systems.silbops.broker.routing import Routing
from overlay.systems.silbops.broker.station import Clock, Station
from overlay.systems.silbops.content.values import is_same
from overlay.systems.silbops.publishing import Refusal, permitted, refuse
from overlay.systems.silbops.tables import Advertisement, Subscription
from overlay.systems.silbops.tables.rows import Context
from overlay.systems.silbops.wire import messages as m
from overlay.systems.silbops.wire.codec import MAX_CLIENT_BYTES

MOST_SUBSCRIPTIONS, MOST_ADVERTISEMENTS = 10_000, 1_000
"""Of one client."""
MOST_ROWS = 4_000_000
"""Subscriptions of all clients of a broker."""

Handler = Callable[[Client, Any], None]


class Requests:
    def __init__(self, station: Station, clients: Clients, routing: Routing) -> None:
        self._station, self._clients, self._routing = station, clients, routing
        self._handlers: Mapping[type, Handler] = {
            m.SetCtx: self._set_context,
            m.Advertise: self._advertise,
            m.Unadvertise: self._unadvertise,
            m.Subscribe: self._subscribe,
            m.Unsubscribe: self._unsubscribe,
            m.Publish: self._publish,
        }

    def take(self, id: m.Client, message: Any) -> None:
        """A message of a client other than ATTACH."""
        req = _number(message)
        handler = self._handlers.get(type(message))
        if handler is None:
            self._clients.refuse(id, req, m.Code.MALFORMED, "a broker does not take this message from a client")
            return
        client = self._clients.get(id)
        if client is None or client.state is State.AWAY:
            self._clients.refuse(id, req, m.Code.NOT_ATTACHED, "ATTACH comes first")
            return
        try:
            handler(client, message)
        except Refusal as error:
            self._clients.refuse(id, req, error.code, error.sentence)
        else:
            if not isinstance(message, m.Publish):
                self._station.pressure.send(id, m.Ok(req))

    def refuse_large(self, id: m.Client, message: Any, size: int) -> None:
        """It fits into a message, and what neighbours would be told of it may not."""
        words = f"{size:,} bytes are more than the {MAX_CLIENT_BYTES:,} of a client's message"
        self._clients.refuse(id, _number(message), m.Code.TOO_LARGE, words)

    def ring_validity(self, key: tuple[m.Client, int, int]) -> None:
        """Removed, unless its owner was heard since."""
        id, table, number = key
        client = self._clients.get(id)
        assert client is not None
        until = client.renewed_at + client.validity[table, number]
        if until > self._station.now:
            self._station.set_timer(Clock.VALIDITY, key, until)
            return
        if table == SUBSCRIPTIONS:
            self._remove_subscription(client, number)
        else:
            self._remove_advertisement(client, number)
        name = ("subscriptions", "advertisements")[table]
        self._station.log.append(ValidityEnded(client.name, name, number, at=self._station.now))

    def restore(self, client: Client, take: m.Take) -> None:
        """What a client had at its old broker. The context is newer than what came from there by the network."""
        tables, link = self._station.tables, client.link
        if take.context is not None:
            tables.set_context(link, client.owner, Context(take.context.version + 1, take.context.values))
        for each in take.advertisements:
            self._put_advertisement(client, each.advertisement, each.ttl_ms)
        for one in take.subscriptions:
            self._put_subscription(client, one.subscription, one.ttl_ms)

    # ---- requests. They raise ``Refusal``.

    def _set_context(self, client: Client, message: m.SetCtx) -> None:
        self._station.counters["contexts"] += 1
        client.renewed_at = self._station.now
        tables = self._station.tables
        known = tables.contexts.get(client.owner)
        if known is None or not is_same(known.values, message.values):
            version = 1 if known is None else known.version + 1
            tables.set_context(client.link, client.owner, Context(version, message.values))

    def _advertise(self, client: Client, message: m.Advertise) -> None:
        if message.subscriber_variables is not None and not self._routing.has_publisher_scope:
            refuse(m.Code.BAD_SCOPE, "without publisher_scope, an advertisement names no variables of subscribers")
        if message.id not in client.advertisements and len(client.advertisements) >= MOST_ADVERTISEMENTS:
            refuse(m.Code.LIMIT, f"a client has {MOST_ADVERTISEMENTS:,} advertisements at most")
        client.renewed_at = self._station.now
        one = Advertisement(client.key(message.id), message.filter, message.variables, message.subscriber_variables)
        self._put_advertisement(client, one, message.ttl_ms)

    def _unadvertise(self, client: Client, message: m.Unadvertise) -> None:
        if message.id not in client.advertisements:
            refuse(m.Code.UNKNOWN_ID, f"there is no advertisement {message.id}")
        self._remove_advertisement(client, message.id)

    def _subscribe(self, client: Client, message: m.Subscribe) -> None:
        if message.scope is not None and self._station.settings.is_siena:
            refuse(m.Code.BAD_SCOPE, "in the siena arm, functions of context are constraints of the filter")
        if message.id not in client.subscriptions:
            if len(client.subscriptions) >= MOST_SUBSCRIPTIONS:
                refuse(m.Code.LIMIT, f"a client has {MOST_SUBSCRIPTIONS:,} subscriptions at most")
            if self._clients.subscriptions >= MOST_ROWS:
                refuse(m.Code.LIMIT, f"this broker has {MOST_ROWS:,} subscriptions already")
        client.renewed_at = self._station.now
        one = Subscription(client.key(message.id), message.filter, message.scope)
        self._put_subscription(client, one, message.ttl_ms)

    def _unsubscribe(self, client: Client, message: m.Unsubscribe) -> None:
        if message.id not in client.subscriptions:
            refuse(m.Code.UNKNOWN_ID, f"there is no subscription {message.id}")
        self._remove_subscription(client, message.id)

    def _publish(self, client: Client, message: m.Publish) -> None:
        """A publication that came before its session was lost may be sent again."""
        if message.number <= client.last:
            self._station.counters["repeats"] += 1
            return
        client.last = message.number
        if message.scope is not None and not self._routing.has_publisher_scope:
            refuse(m.Code.BAD_SCOPE, "without publisher_scope, a publication has no function")
        offers = client.advertisements.values()
        context = permitted(offers, message.notification, message.context, message.scope)
        self._routing.publish(client, message, context)

    # ---- rows

    def _put_advertisement(self, client: Client, one: Advertisement, ttl_ms: int) -> None:
        client.advertisements[one.key.number] = one
        self._station.tables.advertise(client.link, one)
        self._clients.begin_validity(client, ADVERTISEMENTS, one.key.number, ttl_ms)

    def _remove_advertisement(self, client: Client, number: int) -> None:
        del client.advertisements[number]
        self._clients.end_validity(client, ADVERTISEMENTS, number)
        self._station.tables.unadvertise(client.link, client.key(number))

    def _put_subscription(self, client: Client, one: Subscription, ttl_ms: int) -> None:
        number = one.key.number
        if number not in client.subscriptions:
            client.subscriptions[number] = None
            self._clients.subscriptions += 1
        self._station.tables.subscribe(client.link, one)
        self._clients.begin_validity(client, SUBSCRIPTIONS, number, ttl_ms)

    def _remove_subscription(self, client: Client, number: int) -> None:
        del client.subscriptions[number]
        self._clients.subscriptions -= 1
        self._clients.end_validity(client, SUBSCRIPTIONS, number)
        self._station.tables.unsubscribe(client.link, client.key(number))


def _number(message: Any) -> int:
    """Of a request or publication; 0 for others."""
    number: int = getattr(message, "number" if isinstance(message, m.Publish) else "req", 0)
    return number
