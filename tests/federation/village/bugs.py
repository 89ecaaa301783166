"""A bank of planted bugs, which the stories and their oracle must find.

To plant one, write a function here that is given the real function and returns the wrong one;
``python -m tests.soak --system federation --search`` then says which seed is the first to find it.
"""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

from overlay.systems.federation.bdrs import publishing
from overlay.systems.federation.bdrs.registry import Registry
from overlay.systems.federation.broker import membership
from overlay.systems.federation.broker.cache import Cache
from overlay.systems.federation.broker.carrying import Carrying
from overlay.systems.federation.broker.clients import Clients
from overlay.systems.federation.broker.deliveries import Deliveries
from overlay.systems.federation.broker.duplicates import Duplicates
from overlay.systems.federation.broker.exchange import Exchange
from overlay.systems.federation.broker.forwarding import Forwarding
from overlay.systems.federation.broker.held import Held
from overlay.systems.federation.broker.meeting import Meeting
from overlay.systems.federation.broker.membership import Membership
from overlay.systems.federation.broker.old_edges import OldEdges
from overlay.systems.federation.clients.consumer import Consumer
from overlay.systems.federation.clients.provider import Provider
from overlay.systems.federation.clients.registering import Registering
from overlay.systems.federation.covering import merging
from overlay.systems.federation.covering.merged import Merged
from overlay.systems.federation.tables.outlets import Outlet
from overlay.systems.federation.tables.registrations import RegistrationTable
from overlay.systems.federation.tables.subscriptions import SubscriptionTable
from overlay.systems.federation.tables.tables import Tables
from overlay.systems.federation.wire import messages as m
from tests.soak.subject import Bank

BUGS = Bank()
plant = BUGS.plant


# ---- clients at their broker


@plant(Clients, "_begin_again", seed=8)
def an_earlier_life_stays(real):
    """What a client subscribed to before it crashed is still notified."""
    return lambda self, name, client: None


@plant(Deliveries, "_hold", seed=17)
def nothing_is_held(real):
    """Notifications for a client that is invalid are dropped, and counted."""
    return lambda self, name, client, one: self._drop(1)


@plant(Held, "take", seed=17)
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


@plant(Deliveries, "resume", seed=1)
def confirmed_before_what_was_held(real):
    """A registration is confirmed before what was held goes out, so that answered queries are sent again."""

    def resume(self, name, client):
        held, client.held = client.held, None
        real(self, name, client)
        client.held = held

    return resume


# ---- notifications


@plant(Duplicates, "is_new", seed=93)
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


# ---- between brokers


@plant(RegistrationTable, "desired", seed=0)
def entries_go_back(real):
    """A neighbour is told of the providers that it has told of."""

    def desired(self, neighbour, client):
        return real(self, neighbour, client) or (self.get(client) if self.local(client) is None else None)

    return desired


@plant(Outlet, "take_off", seed=0)
def queries_are_offered_once(real):
    """Whoever has dropped a query by itself is not told of it again."""
    return lambda self, sid: self._sent.pop(sid, None) and None


@plant(Tables, "disconnect", seed=27)
def lost_neighbours_leave_entries(real):
    """What came over an edge that is lost is told to others still."""

    def disconnect(self, broker):
        kept = list(self.registrations.held_from(broker))
        real(self, broker)
        for entry in kept[:1]:
            self.registrations.put(entry)

    return disconnect


@plant(Exchange, "_tell_registrations", seed=3)
def registrations_are_told_once(real):
    """After the first one a neighbour gets no changes of registrations."""

    def tell(self, edge):
        if edge.told[m.Table.REGISTRATIONS] < 2:
            real(self, edge)

    return tell


@plant(Meeting, "_differing", seed=80)
def a_restart_is_not_noticed(real):
    """A neighbour that has lost its tables does not get them again."""

    def differing(self, edge, hello, is_new):
        return real(self, edge, hello, is_new) if is_new else set()

    return differing


@plant(OldEdges, "_drop_entries", seed=23)
def old_edges_stay(real):
    """What came over an edge of an earlier tree is kept."""

    def drop_entries(self, edge):
        edge.has_entries = False

    return drop_entries


@plant(Forwarding, "forward", seed=3)
def long_ways_are_cut(real):
    """A notification goes two hops at most."""

    def forward(self, broker, note, hops, path, ended, drop):
        if hops < 3:
            real(self, broker, note, hops, path, ended, drop)

    return forward


# ---- unions of subscriptions on links


@plant(merging, "joined", seed=126)
def unions_lack_a_value(real):
    """A union of values is without the last one."""

    def joined(first, second, *, is_perfect=True):
        found = real(first, second, is_perfect=is_perfect)
        return replace(found, constants=found.constants[:-1]) if found is not None and found.operator == "in" else found

    return joined


@plant(Merged, "_take_out", seed=37)
def parts_go_with_their_union(real):
    """When one part of a union goes, neighbours are not told of the others again."""

    def take_out(self, sid, changed):
        is_union = sid in self._parts
        parts = real(self, sid, changed)
        return {} if is_union else parts

    return take_out


@plant(Merged, "expire", seed=141)
def unions_are_not_told_again(real):
    """When the first part of a union expires, nothing takes its place."""

    def expire(self, now_ms):
        waiting, self._place_all = self._place_all, lambda sids, changed: None
        try:
            return real(self, now_ms)
        finally:
            self._place_all = waiting

    return expire


# ---- what a mobile broker carries


@plant(Carrying, "add", seed=3)
def nothing_is_carried(real):
    """What is published without a neighbour is routed once, when there is no one to get it."""
    return lambda self, notification, handed, *, was_stored: None


@plant(Carrying, "ring", seed=3)
def carried_for_a_while_only(real):
    """What is carried is dropped while there is no neighbour yet."""

    def ring(self, key):
        has_link, self.has_link = self.has_link, True
        neighbours, self._neighbours = self._neighbours, SimpleNamespace(has_ready=True)
        try:
            real(self, key)
        finally:
            self.has_link, self._neighbours = has_link, neighbours

    return ring


@plant(Carrying, "owed", seed=3)
def handed_over_backwards(real):
    """A neighbour gets what is carried in the wrong order."""
    return lambda self, broker: reversed(list(real(self, broker)))


# ---- the tree


@plant(publishing, "edges_of", seed=0)
def not_the_shortest_tree(real):
    """The tree has the links with the longest delays."""
    return lambda links, cycles: real([one._replace(delay_us=-one.delay_us) for one in links], cycles)


@plant(Registry, "expire", seed=1)
def brokers_live_for_ever(real):
    """A broker that is silent stays in the tree."""

    def expire(self, now):
        silent = real(self, now)
        for one in silent:
            self.register(one.advertisement, now)
        return []

    return expire


@plant(Membership, "_lose", seed=147)
def dead_links_are_not_told(real):
    """The registration service does not hear of a link that is cut."""
    return lambda self, broker: None


@plant(Membership, "ring_store", seed=950)
def links_to_mobile_brokers_are_never_dead(real):
    """A mobile broker that is cut off from one neighbour only stays its neighbour."""
    return lambda self, broker: self._neighbours.ring_store(broker)


@plant(Membership, "_revive", seed=10)
def dead_links_stay_dead(real):
    """A link that is healed is not used again."""
    return lambda self, broker: self._station.set_timer(membership.Clock.LINK, broker, self._station.now + self._period)


# ---- the cores of clients


@plant(Consumer, "_resume", seed=8)
def subscriptions_are_sent_once(real):
    """After another registration a consumer does not send its subscriptions again."""
    return lambda self: None


@plant(Registering, "_keep_alive", seed=0)
def no_keep_alives(real):
    """A client that is registered says nothing more."""
    return lambda self: None


@plant(Provider, "_resume", seed=14)
def unanswered_notifications_are_forgotten(real):
    """A provider does not publish again what had no answer when its broker crashed."""
    return lambda self: None
