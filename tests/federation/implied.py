"""What the tables of brokers contain at rest: a function of the tree, of where clients are registered, and of their
subscriptions. It knows nothing of how the tables came about.
"""

from __future__ import annotations

from dataclasses import dataclass

from overlay.systems.federation.settings import MERGING, OFF
from overlay.systems.federation.tables.destinations import client, neighbour
from overlay.systems.federation.tables.registrations import LOCAL
from overlay.systems.federation.tables.tables import Routing
from overlay.systems.federation.wire.values import Notification, NotificationId, Role
from tests.federation.naive import satisfies

NOTES = [
    Notification(NotificationId("p", 1), "room", entity, scope, 1, 2, data)
    for entity in ("r1", "r2")
    for scope in ("climate", "light", "noise")
    for data in ({}, *({"x": x} for x in (1, 2, 3, [1, 3])))
]
"""Of all kinds that are published."""


@dataclass
class Implied:
    edges: set
    """Pairs of brokers."""
    homes: dict
    """The broker of each registered client."""
    advertisements: dict
    """Of each registered client."""
    live: dict
    """Subscriptions by id, of registered clients."""
    routing: Routing = Routing.ADVERTISEMENTS
    covering: str = OFF

    # ---- the tree

    def component(self, broker):
        """Brokers, nearest first, each with the one it was reached from."""
        found, stack = {broker: None}, [broker]
        while stack:
            one = stack.pop(0)
            for a, b in sorted(self.edges):
                other = b if a == one else a if b == one else None
                if other and other not in found:
                    found[other] = one
                    stack.append(other)
        return found

    def hops(self, broker):
        """By broker of the component, the first one on the way there."""
        found = {}
        for other, reached_from in self.component(broker).items():
            found[other] = other if reached_from in (None, broker) else found[reached_from]
        return found

    def diameter(self):
        """Edges of the longest way."""
        return max((self.distance(a, b) for a in self.homes.values() for b in self.homes.values()), default=0)

    def distance(self, a, b):
        """Edges between two brokers, 0 if there is no way."""
        way, reached_from = 0, self.component(a)
        while b in reached_from and b != a:
            b, way = reached_from[b], way + 1
        return way

    # ---- the tables

    def entries(self, broker):
        """R: clients with where they are known from."""
        found, hops = set(), self.hops(broker)
        for name, home in self.homes.items():
            first = hops.get(home)
            if first == broker:
                found.add((name, LOCAL))
            elif first and (self.advertisements[name].role is Role.PROVIDER or first == home):
                found.add((name, first))
        return found

    def rows(self, broker):
        """T: subscriptions at home, and on the ways from there to providers of their scopes, or everywhere."""
        found, hops = set(), self.hops(broker)
        for sid, one in self.live.items():
            home = self.homes[sid.client]
            if home == broker:
                found.add((sid, client(sid.client)))
            elif home in hops and self.is_wanted(hops, home, one):
                found.add((sid, neighbour(hops[home])))
        return found

    def is_wanted(self, hops, home, subscription):
        if self.routing is not Routing.ADVERTISEMENTS:
            return self.routing is Routing.FLOODING
        beyond = {other for other, first in hops.items() if first != hops[home]}
        return any(
            self.homes[name] in beyond and one.role is Role.PROVIDER and set(one.scopes) & set(subscription.scopes)
            for name, one in self.advertisements.items()
        )

    def differences(self, broker, tables):
        """Sentences; none if both tables are right."""
        registrations, table = tables.registrations, tables.subscriptions
        known = {(name, source) for name in registrations for source in registrations.next_hops(name)}
        held = [row for sid in self.live if (row := table.get(sid))]
        rows = {(row.subscription.id, where) for row in held for where in row.destinations}
        implied, wanted = self.entries(broker), self.rows(broker)
        unions = self.unions(table)
        found = [f"{broker} has no entry {one}" for one in sorted(implied - known)]
        found += [f"{broker} has the entry {one}" for one in sorted(known - implied)]
        found += [f"{broker} has the row {one}" for one in sorted(rows - wanted)]
        found += [f"{broker} has no row {one}" for one in sorted(wanted - rows) if self.is_missed(one)]
        found += [
            f"{broker} has {one} from {where}" for one, where in unions if not self.is_perfect(one, broker, where)
        ]
        if len(held) + len(unions) != len(table):
            found.append(f"{broker} has {len(table) - len(held) - len(unions)} subscriptions that no client has")
        return found

    def is_missed(self, row):
        """A neighbour may have left it out only because another one covers it."""
        return self.covering == OFF or not row[1].is_neighbour

    def unions(self, table):
        """Subscriptions that brokers have merged, with where they came from."""
        held = [(one, where) for where in table.destinations() for one in table.held_from(where)]
        return [(one, where) for one, where in held if self.covering == MERGING and one.id not in self.live
                and one.id.client not in self.homes]  # fmt: skip

    def is_perfect(self, union, broker, where):
        """Whether what satisfies it satisfies a subscription of a client on that side of the tree."""
        hops = self.hops(broker)
        parts = [one for sid, one in self.live.items() if hops.get(self.homes[sid.client]) == where.id]
        return all(
            any(note.scope in one.scopes and satisfies(one.expression, note) for one in parts)
            for note in NOTES
            if note.scope in union.scopes and satisfies(union.expression, note)
        )

    def watched(self, name, tables):
        """What a provider watches: all that its broker has of its scopes, but its own."""
        if self.routing is Routing.NOTIFICATIONS:
            return set()
        scopes, table = set(self.advertisements[name].scopes), tables.subscriptions
        held = [one for one in self.live.values() if table.get(one.id)] + [one for one, _ in self.unions(table)]
        return {one.id for one in held if scopes & set(one.scopes) and one.id.client != name}

    def expected_of(self, note, live):
        """The subscriptions of ``live`` that are satisfied by a ``note`` published at rest."""
        reached = self.component(self.homes[note.id.provider])
        return {
            sid
            for sid, one in live.items()
            if note.scope in one.scopes and satisfies(one.expression, note)
            if self.homes[sid.client] in reached and sid.client != note.id.provider
        }
