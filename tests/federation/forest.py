"""Brokers' tables on a forest, joined by queues, and what an oracle says that they hold at rest."""

from __future__ import annotations

from collections import Counter, deque
from functools import partial
from itertools import count
from random import Random

from overlay.systems.federation.covering.kept import Kept
from overlay.systems.federation.covering.merged import Merged
from overlay.systems.federation.language.text import parse
from overlay.systems.federation.settings import COVERING, MERGING, OFF
from overlay.systems.federation.tables.destinations import client, neighbour
from overlay.systems.federation.tables.tables import Routing, Tables
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire import values as v
from tests.federation.implied import Implied
from tests.federation.naive import satisfies

SCOPES = ("climate", "light", "noise")
TEXTS = ("true", "x > 1", "x > 2", "x in (1, 2)", "entity.id = r1", "entity.id = r1 and x > 1", "not x > 2")
SIMILAR = [
    parse(text)
    for text in ("x = 1", "x = 2", "x in (2, 3)", "x < 2", "x > 2", "x between 1 and 1", "x between 3 and 3")
]
"""Of which many are merged."""
TICK_MS = 700
"""That pass in a step of time."""
EXPRESSIONS = [parse(text) for text in TEXTS]


class Forest:
    """``step`` does something at random; ``rest`` delivers all that is under way, and compares."""

    def __init__(self, seed, routing=Routing.ADVERTISEMENTS, covering=OFF):
        self.random = random = Random(seed)
        self.routing = routing
        self.brokers = [f"b{i}" for i in range(random.randint(2, 7))]
        self.covering = covering
        self.tables = {name: Tables(routing, covering=self.covering_of(name)) for name in self.brokers}
        self.edges, self.queues = set(), {}
        self.homes, self.advertisements = {}, {}
        self.live = {}
        """Subscriptions by id, of registered clients."""
        self.offered = {}
        """By provider, what it was told to watch."""
        self.notified = Counter()
        self.number = self.now = 0
        self.parents = [(name, random.choice(self.brokers[:i])) for i, name in enumerate(self.brokers) if i]
        for edge in self.parents:
            self.join(*edge)

    def covering_of(self, broker):
        numbers = count(1)
        merging = partial(Merged, lambda: v.SubscriptionId(broker, next(numbers)))
        return {OFF: None, COVERING: Kept, MERGING: merging}[self.covering]

    # ---- edges

    def join(self, a, b):
        self.edges.add((a, b))
        for one, other in ((a, b), (b, a)):
            self.queues[one, other] = deque()
            self.tables[one].connect(other)
        for one in (a, b):
            self.flush(one)

    def cut(self, a, b):
        self.edges.discard((a, b))
        for one, other in ((a, b), (b, a)):
            del self.queues[one, other]
            self.tables[one].disconnect(other)
        for one in (a, b):
            self.flush(one)

    # ---- messages

    def flush(self, broker, is_due=None):
        """Send what a step has changed; registrations now or later."""
        tables = self.tables[broker]
        tables.check_invariants()
        for change in tables.subscription_changes():
            if change.destination.is_neighbour:
                self.send(broker, change.destination.id, m.SubTable(1, m.Whole.CHANGES, change.added, change.removed))
            else:
                self.offer(change)
        if is_due if is_due is not None else self.random.random() < 0.5:
            for other in list(tables.registrations.neighbours):
                change = tables.registration_change(other)
                if change.added or change.removed:
                    message = m.RegTable(1, m.Whole.CHANGES, change.added, change.removed, v.Summary())
                    self.send(broker, other, message)
        tables.check_invariants()

    def offer(self, change):
        watched = self.offered[change.destination.id]
        watched.update((one.id, one) for one in change.added)
        for sid in change.removed:
            watched.pop(sid, None)

    def send(self, source, target, message):
        self.queues[source, target].append(message)

    def deliver(self, source, target):
        message, tables = self.queues[source, target].popleft(), self.tables[target]
        match message:
            case m.SubTable():
                tables.receive_subscriptions(source, message)
            case m.RegTable():
                for name in tables.receive_registrations(source, message):
                    tables.unregister(name)
            case m.Forward():
                tables.ended(source, message.ended)
                self.route(target, message.notification, neighbour(source))
        self.flush(target)

    def route(self, broker, note, source):
        for delivery in self.tables[broker].route(note, source):
            if delivery.destination.is_neighbour:
                self.send(broker, delivery.destination.id, m.Forward(note, ended=delivery.ended))
            else:
                self.notify(delivery.destination.id, note, delivery)

    def notify(self, name, note, delivery):
        for sid in delivery.satisfied:
            subscription = self.live.get(sid)
            assert sid.client == name and subscription, "no live subscription"
            assert note.scope in subscription.scopes and satisfies(subscription.expression, note), "not satisfied"
            self.notified[sid, note.id] += 1
            assert self.notified[sid, note.id] == 1, "twice"
            assert (sid in delivery.ended) is subscription.once
            if subscription.once:
                del self.live[sid]

    # ---- clients

    def register(self, name):
        self.number += 1
        home = self.homes.setdefault(name, self.random.choice(self.brokers))
        role = v.Role.PROVIDER if name[0] == "p" else v.Role.CONSUMER
        scopes = tuple(self.random.sample(SCOPES, self.random.randint(1, 2))) if role else ()
        self.advertisements[name] = v.Advertisement(name, self.number, role, "", scopes)
        self.offered[name] = {}
        self.tables[home].register(v.Entry(self.advertisements[name], "127.0.0.1:1", home, self.number))
        self.flush(home)

    def unregister(self, name):
        home = self.homes.pop(name)
        del self.advertisements[name], self.offered[name]
        self.live = {sid: one for sid, one in self.live.items() if sid.client != name}
        self.tables[home].unregister(name)
        self.flush(home)

    def subscribe(self, name):
        self.number += 1
        random = self.random
        one = v.Subscription(
            v.SubscriptionId(name, self.number),
            tuple(random.sample(SCOPES, random.randint(1, 2))),
            self.now + TICK_MS * random.choice([3, 5 if self.covering == MERGING else 1_000, 2_000]),
            random.choice(SIMILAR if self.covering == MERGING else EXPRESSIONS),
            once=random.random() < (0.2 if self.covering == MERGING else 0.4),
        )
        self.live[one.id] = one
        self.tables[self.homes[name]].subscribe(name, [one])
        self.flush(self.homes[name])

    def withdraw(self, sid):
        del self.live[sid]
        self.tables[self.homes[sid.client]].subscribe(sid.client, [], [sid])
        self.flush(self.homes[sid.client])

    def publish(self, name):
        self.number += 1
        entity, scope = self.random.choice(["r1", "r2"]), self.random.choice(self.advertisements[name].scopes)
        data = {"x": self.random.choice([1, 2, 3, [1, 3]])} if self.random.random() < 0.9 else {}
        note = v.Notification(v.NotificationId(name, self.number), "room", entity, scope, 1, 2, data)
        home, watched = self.homes[name], self.offered[name]
        believed = [
            sid for sid, one in watched.items() if one.once and scope in one.scopes and satisfies(one.expression, note)
        ]
        for sid in believed:
            del watched[sid]
        self.route(home, note, client(name))
        self.tables[home].published(name, believed)
        self.flush(home)
        return note

    def pass_time(self):
        """All brokers drop what has expired, each by itself."""
        self.now += TICK_MS
        self.live = {sid: one for sid, one in self.live.items() if one.expires > self.now}
        for broker in self.random.sample(self.brokers, len(self.brokers)):
            self.tables[broker].expire(self.now)
            self.flush(broker)

    # ---- steps

    def step(self):
        random = self.random
        clients = sorted(self.homes)
        providers = [name for name in clients if name[0] == "p"]
        waiting = sorted(edge for edge, queue in self.queues.items() if queue)
        what = random.choices(
            ("deliver", "register", "subscribe", "withdraw", "publish", "time", "edge"),
            (9, 3, 20 if self.covering == MERGING else 4, 1, 3, 2 if self.covering == MERGING else 1, 1),
        )
        match what[0]:
            case "deliver" if waiting:
                self.deliver(*random.choice(waiting))
            case "register":
                name = random.choice(["p0", "p1", "p2", "c0", "c1", "c2"])
                if name in self.homes and random.random() < 0.5:
                    self.unregister(name)
                else:
                    self.register(name)
            case "subscribe" if clients:
                self.subscribe(random.choice(clients))
            case "withdraw" if self.live:
                self.withdraw(random.choice(sorted(self.live)))
            case "publish" if providers:
                self.publish(random.choice(providers))
            case "time":
                self.pass_time()
            case "edge":
                edge = random.choice(self.parents)
                (self.cut if edge in self.edges else self.join)(*edge)

    def rest(self):
        while any(self.queues.values()) or self.flush_all():
            for source, target in [edge for edge, queue in self.queues.items() if queue]:
                self.deliver(source, target)
        self.compare()

    def flush_all(self):
        for broker in self.brokers:
            self.flush(broker, is_due=True)
        return any(self.queues.values())

    # ---- the oracle

    @property
    def implied(self):
        return Implied(self.edges, self.homes, self.advertisements, self.live, self.routing, self.covering)

    def compare(self):
        for broker, tables in self.tables.items():
            assert not self.implied.differences(broker, tables)
        for name, home in self.homes.items():
            assert set(self.offered[name]) == self.implied.watched(name, self.tables[home])
