"""A bank of planted bugs, which the stories and their oracle must find.

To plant one, write a function here that is given the real function and returns the wrong one;
``python -m tests.soak --system federation --search`` then says which seed is the first to find it.
"""

from __future__ import annotations

from overlay.systems.federation.broker.cache import Cache
from overlay.systems.federation.broker.clients import Clients
from overlay.systems.federation.broker.deliveries import Deliveries
from overlay.systems.federation.broker.duplicates import Duplicates
from overlay.systems.federation.broker.held import Held
from overlay.systems.federation.clients.consumer import Consumer
from overlay.systems.federation.clients.provider import Provider
from overlay.systems.federation.clients.receipts import Receipts
from overlay.systems.federation.clients.registering import Registering
from overlay.systems.federation.tables.subscriptions import SubscriptionTable
from overlay.systems.federation.tables.tables import Tables
from overlay.systems.federation.wire import messages as m
from tests.soak.subject import Bank

BUGS = Bank()
plant = BUGS.plant


# ---- clients at their broker


@plant(Clients, "_begin_again", seed=0)
def an_earlier_life_stays(real):
    """What a client subscribed to before it crashed is still notified."""
    return lambda self, name, client: None


@plant(Clients, "session", seed=0)
def unreachable_clients_are_removed(real):
    """A client whose session ends loses its registration, and what waits for it."""

    def session(self, event):
        real(self, event)
        name = event.peer.decode()
        if name in self and not self._clients[name].is_reachable:
            self._tables.unregister(name)

    return session


@plant(Deliveries, "_hold", seed=0)
def nothing_is_held(real):
    """Notifications for a client that is invalid are dropped, and counted."""

    def hold(self, client, one):
        self._drop(1)

    return hold


@plant(Held, "take", seed=0)
def held_backwards(real):
    """What was held goes out in the wrong order."""
    return lambda self: real(self)[::-1]


@plant(Deliveries, "offer", seed=0)
def nothing_is_withdrawn_from_providers(real):
    """A provider is not told what it need not watch any more."""

    def offer(self, change):
        if change.added:
            self._peers.send(change.destination.id, m.Offer(change.added))

    return offer


# ---- notifications


@plant(Duplicates, "is_new", seed=0)
def copies_are_routed(real):
    """A notification that is published again is routed again."""

    def is_new(self, nid, now):
        real(self, nid, now)
        return True

    return is_new


@plant(Cache, "_first", seed=0)
def the_cache_answers_with_anything(real):
    """The newest notification of the scope, whether it satisfies the subscription or not."""
    return lambda self, keys, test, client, wall_ms: real(self, keys, lambda note: True, client, wall_ms)


@plant(Tables, "_delivery", seed=0)
def queries_never_end(real):
    """A query stays where it was satisfied."""

    def delivery(self, destination, satisfied):
        found = real(self, destination, satisfied)
        for one in satisfied:
            self.subscriptions.add(one, destination)
        return found

    return delivery


@plant(SubscriptionTable, "match", seed=0)
def subscriptions_without_an_entity_are_forgotten(real):
    """What fixes no entity is not looked at."""
    return lambda self, note: [row for row in real(self, note) if row.entity is not None]


@plant(Tables, "subscribe", seed=0)
def withdrawals_are_ignored(real):
    """A client that withdraws a subscription gets its notifications still."""
    return lambda self, name, added, removed=(): real(self, name, added)


# ---- the cores of clients


@plant(Receipts, "received", seed=0)
def consumers_count_copies_as_first(real):
    """A consumer takes every copy for the first one."""

    def received(self, nid, number, now):
        real(self, nid, number, now)
        return 1

    return received


@plant(Consumer, "_resume", seed=0)
def subscriptions_are_sent_once(real):
    """After another registration a consumer does not send its subscriptions again."""
    return lambda self: None


@plant(Registering, "_keep_alive", seed=0)
def no_keep_alives(real):
    """A client that is registered says nothing more."""
    return lambda self: None


@plant(Provider, "_resume", seed=0)
def unanswered_notifications_are_forgotten(real):
    """A provider does not publish again what had no answer when its broker crashed."""
    return lambda self: None
