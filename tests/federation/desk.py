"""Brokers' rooms for clients and notifications, with scripted clients, over real channels in virtual time.

Links have no delay, so that a message takes effect at the instant at which it is said. Neighbours are a fixed tree.
"""

from __future__ import annotations

from collections import deque
from ipaddress import IPv4Address
from itertools import pairwise
from random import Random
from zlib import crc32

from overlay.core.timers import earliest
from overlay.peers.peers import Heard
from overlay.systems.federation.broker.clients import Clients
from overlay.systems.federation.broker.notifying import Notifying
from overlay.systems.federation.broker.station import Clock, Station
from overlay.systems.federation.config import ServerConfig
from overlay.systems.federation.language.text import parse
from overlay.systems.federation.peers import Peers
from overlay.systems.federation.settings import Settings
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire import values as v

WALL_MS = 1_800_000_000_000
"""Unix time at instant 0."""
MS, S = 1_000_000, 1_000_000_000


class Tree:
    """Stands for ``Neighbours``: edges never change, and all that a step changed goes at once."""

    def __init__(self, station):
        self.station, self.told = station, 0

    def connect(self, name):
        self.station.tables.connect(name)

    def out_of_turn(self):
        self.told += 1

    def may_forward(self, broker):
        return broker in self.station.tables.registrations.neighbours

    def forward(self, broker, notification, hops, path, ended, drop):
        self.station.peers.send(broker, m.Forward(notification, hops, path, ended), drop)

    def tell(self, change):
        message = m.SubTable(1, m.Whole.CHANGES, change.added, change.removed)
        to = [change.destination.id] if change.destination.id else self.station.tables.registrations.neighbours
        self.station.peers.send_each(to, message)

    def exchange(self):
        for name in list(self.station.tables.registrations.neighbours):
            change = self.station.tables.registration_change(name)
            if change.added or change.removed:
                message = m.RegTable(1, m.Whole.CHANGES, change.added, change.removed, v.Summary())
                self.station.peers.send(name, message)


class Node:
    """What has a channel: a broker or a client."""

    def __init__(self, name, settings, chance=None):
        self.name, self.address = name, (str(IPv4Address(crc32(name.encode()))), 7_000)
        self.peers = Peers(name, settings, chance or Random(name), WALL_MS * MS)

    def begin(self, now):
        self.peers.now = now

    def receive(self, data, source, now):
        self.begin(now)
        self.peers.receive(data, source)
        self.take()

    def handle_timer(self, now):
        self.begin(now)
        self.peers.channel.handle_timer(now)
        self.take()

    def next_timer(self):
        return self.peers.channel.next_timer()


class Desk(Node):
    """A broker, as far as its clients see it."""

    def __init__(self, name, settings):
        super().__init__(name, settings)
        self.station = Station(settings, self.peers)
        self.tables, self.tree = self.station.tables, Tree(self.station)
        self.clients = Clients(self.station, self.tree, ServerConfig(settings, 3).server_names)
        self.notifying = Notifying(self.station, self.clients, self.tree)
        self.handlers = {
            m.Register: self.clients.register,
            m.KeepAlive: self.clients.keep_alive,
            m.Unregister: self.clients.unregister,
            m.Subscribe: self.notifying.subscribe,
            m.Publish: self.notifying.publish,
            m.Forward: self.notifying.forward,
            m.SubTable: self.tables.receive_subscriptions,
            m.RegTable: self.registrations,
            m.Lookup: self.clients.serves,
            m.Query: self.clients.serves,
        }

    def registrations(self, broker, message):
        self.station.superseded += self.tables.receive_registrations(broker, message)

    def begin(self, now):
        super().begin(now)
        for clock, key in self.station.timers.due(now):
            assert clock == Clock.CLIENT
            self.clients.ring(key)
        self.tables.expire(self.peers.wall_ms)
        self.settle()

    def take(self):
        for event in self.peers.events():
            if isinstance(event, Heard):
                handler = self.handlers.get(type(event.message))
                if handler is not None:
                    handler(event.peer, event.message)
            else:
                self.clients.session(event)
            self.settle()
        self.check()

    def settle(self):
        self.clients.supersede()
        for change in self.tables.subscription_changes():
            (self.tree if change.destination.is_neighbour else self.clients).tell(change)
        self.tree.exchange()

    def next_timer(self):
        expiry = self.tables.subscriptions.next_expiry()
        expires = None if expiry is None else self.peers.at_wall_ms(expiry)
        return earliest(expires, self.station.timers.next_timer(), super().next_timer())

    def check(self):
        for one in (self.peers, self.tables, self.clients, self.notifying):
            one.check_invariants()
        due = self.station.timers.next_timer()
        assert due is None or due > self.peers.now

    @property
    def log(self):
        """What was reported since the last call."""
        log, self.station.log = self.station.log, []
        return log


class Scripted(Node):
    """A client that says what a test wants, and keeps what it hears."""

    def __init__(self, name, settings, chance):
        super().__init__(name, settings, chance)
        self.inbox, self.sessions = [], []

    def take(self):
        for event in self.peers.events():
            if isinstance(event, Heard):
                self.inbox.append(event.message)
            else:
                self.sessions.append(event)


class World:
    """``says`` and ``hears`` make a transcript; ``until`` lets time pass."""

    def __init__(self, *names, brokers=("b0",), **settings):
        self.now = self.lives = 0
        self.settings = Settings(**settings)
        self.desks = {name: Desk(name, self.settings) for name in brokers}
        self.nodes = dict(self.desks)
        self.under_way = deque()
        self.cut = set()
        """Names whose datagrams are lost, both ways."""
        for one, other in pairwise(brokers):
            self.join(one, other)
        for name in names:
            self.enter(name)
        self.settle()

    # ---- who there is

    @property
    def broker(self):
        return self.desks["b0"]

    def client(self, name):
        return self.nodes[name]

    def enter(self, name, broker="b0"):
        """A client with a new session, also again."""
        self.lives += 1
        node = self.nodes[name] = Scripted(name, self.settings, Random(self.lives))
        self.meet(name, broker)
        return node

    def meet(self, name, broker):
        self.nodes[name].begin(self.now)
        self.nodes[name].peers.open(broker, self.nodes[broker].address)

    def join(self, one, other):
        self.meet(one, other)
        self.settle()
        self.desks[one].tree.connect(other)
        self.desks[other].tree.connect(one)

    # ---- transcripts

    def says(self, name, *messages, to="b0"):
        """Several messages go in one datagram."""
        for message in messages:
            self.nodes[name].begin(self.now)
            assert self.nodes[name].peers.send(to, message)
        self.settle()

    def hears(self, name):
        """Since the last call."""
        node = self.nodes[name]
        heard, node.inbox = node.inbox, []
        return heard

    def until(self, instant):
        """Everything that happens up to ``instant``, included; messages that are said then come after it."""
        while (due := self.next_timer()) is not None and due <= instant:
            self.now = max(self.now, due)
            self.ring()
            self.settle()
        self.now = instant

    def before(self, instant):
        """Up to ``instant``, without what is due then: what is said arrives with it."""
        self.until(instant - 1)
        self.now = instant

    # ---- inner

    def next_timer(self):
        return earliest(*(node.next_timer() for node in self.nodes.values()))

    def ring(self):
        for node in self.nodes.values():
            due = node.next_timer()
            if due is not None and due <= self.now:
                node.handle_timer(self.now)

    def settle(self):
        """Deliver all that is under way."""
        while self.collect():
            while self.under_way:
                node, data, source = self.under_way.popleft()
                node.receive(data, source, self.now)

    def collect(self):
        for node in list(self.nodes.values()):
            for data, address in node.peers.channel.datagrams_to_send():
                for other in self.nodes.values():
                    if other.address == address and not {node.name, other.name} & self.cut:
                        self.under_way.append((other, data, node.address))
        return bool(self.under_way)


# ---- what is said


def advertisement(name, registration=1, scopes=(), role=None, **changes):
    role = role if role is not None else v.Role.PROVIDER if name[0] == "p" else v.Role.CONSUMER
    return v.Advertisement(name, registration, role, changes.get("url", ""), scopes)


def register(name, registration=1, scopes=(), req=1, **changes):
    return m.Register(req, advertisement(name, registration, scopes, **changes))


def subscription(name="c0", number=1, text="true", *, s=600, scopes=("climate",), priority=1, once=False):
    """Expires ``s`` seconds after instant 0."""
    sid = v.SubscriptionId(name, number)
    return v.Subscription(sid, scopes, WALL_MS + round(s * 1_000), parse(text), v.Priority(priority), once)


def subscribe(*added, req=2, removed=()):
    return m.Subscribe(req, added, removed)


def note(provider="p0", number=1, *, scope="climate", entity="r1", at_s=0, s=600, **data):
    """Of instant ``at_s``, valid until ``s``."""
    nid = v.NotificationId(provider, number)
    return v.Notification(nid, "room", entity, scope, WALL_MS + round(at_s * 1_000), WALL_MS + round(s * 1_000), data)


def publish(*notes, req=3, satisfied=()):
    return m.Publish(req, tuple(v.Publication(one, tuple(satisfied)) for one in notes))
