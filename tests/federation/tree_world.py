"""Brokers, a scripted registration service and clients over real channels in virtual time.

Links have one delay and carry nothing while they are cut. After each step of a broker its invariants are checked.
"""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count
from types import SimpleNamespace

from overlay.channel import Down, Up
from overlay.core.chance import Chances, Stream, derive_seed
from overlay.core.node import MILLISECOND, SECOND
from overlay.peers.peers import Heard
from overlay.systems.federation.broker.broker import Broker
from overlay.systems.federation.config import ServerConfig
from overlay.systems.federation.peers import Peers
from overlay.systems.federation.settings import Settings
from overlay.systems.federation.tables.destinations import neighbour
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire import values as v
from overlay.systems.federation.wire.sums import sum_of
from overlay.systems.roles import Place

WALL_NS = 1_800_000_000 * SECOND
"""Unix time at instant 0."""
DELAY = MILLISECOND
LONG = 3_600.0


class Node:
    """A node with a channel that does what a test says."""

    def __init__(self, world, name, address, seed=1):
        self.world, self.name, self.address = world, name, address
        self.peers = Peers(name, world.settings, Stream(derive_seed(seed, name)), WALL_NS)
        self.heard = []
        self.events_of_sessions = []

    def receive_datagrams(self, datagrams, now):
        self.peers.now = now
        for data, source in datagrams:
            self.peers.receive(data, source)
        self.take()

    def handle_timer(self, now):
        self.peers.now = now
        self.peers.channel.handle_timer(now)
        self.take()

    def next_timer(self):
        return self.peers.channel.next_timer()

    def datagrams_to_send(self):
        return self.peers.channel.datagrams_to_send()

    def take(self):
        for event in self.peers.events():
            if isinstance(event, Heard):
                self.heard.append((event.peer, event.message))
                self.hear(event.peer, event.message)
            else:
                self.events_of_sessions.append(event)
                self.session(event)

    def hear(self, peer, message):
        pass

    def session(self, event):
        pass

    def say(self, peer, *messages):
        self.peers.now = self.world.now
        for message in messages:
            assert self.peers.send(peer, message)
        self.world.drain(self)

    def open(self, peer, keep=False):
        self.peers.now = self.world.now
        assert self.peers.open(peer, self.world.nodes[peer].address, keep=keep)
        self.world.drain(self)

    def heard_of(self, kind, peer=None):
        return [message for who, message in self.heard if isinstance(message, kind) and peer in (None, who)]

    def check_invariants(self):
        pass


class Service(Node):
    """A registration service that publishes the trees that a test says."""

    def __init__(self, world, name, address, seed=1):
        super().__init__(world, name, address, seed)
        self.brokers, self.up = {}, {}
        self.epoch, self.edges = 0, ()
        self.answers = True

    def session(self, event):
        if isinstance(event, Up):
            self.up[event.peer.decode()] = None
        elif isinstance(event, Down):
            self.up.pop(event.peer.decode(), None)

    def hear(self, peer, message):
        if isinstance(message, m.Broker) and self.answers:
            self.peers.accept(peer, message.req)
            if message.is_registering:
                self.brokers[peer] = message.broker
                if self.epoch:
                    self.peers.send(peer, self.whole())
            else:
                self.brokers.pop(peer, None)

    def whole(self):
        return m.Brokers(self.epoch, m.Whole.LAST, tuple(self.brokers.values()), (), tuple(self.edges))

    def publish(self, *edges, to=None):
        """A new epoch with these edges, written ``b0-b1``, to all brokers or some."""
        self.epoch += 1
        self.edges = [tuple(edge.split("-")) for edge in edges]
        self.peers.now = self.world.now
        for name in self.brokers if to is None else to:
            if name in self.up:
                self.peers.send(name, self.whole())
        self.world.drain(self)


class Customer(Node):
    """A client: a provider if its name begins with p."""

    def __init__(self, world, name, address, broker, scopes=()):
        super().__init__(world, name, address)
        self.broker, self.scopes = broker, scopes
        self.numbers = count(1)
        self.answers = True
        """Whether a provider publishes for each query that it is offered."""

    def join(self):
        role = v.Role.PROVIDER if self.name[0] == "p" else v.Role.CONSUMER
        self.open(self.broker)
        self.registration = next(self.world.numbers)
        self.say(self.broker, m.Register(1, v.Advertisement(self.name, self.registration, role, "", self.scopes)))
        return self

    def leave(self):
        self.say(self.broker, m.Unregister(2, self.registration))

    def subscribe(self, *scopes, once=False, life_s=1_000, number=None):
        sid = v.SubscriptionId(self.name, number or next(self.world.numbers))
        one = v.Subscription(sid, scopes, self.world.wall_ms + round(life_s * 1_000), once=once)
        self.say(self.broker, m.Subscribe(3, (one,), ()))
        return sid

    def withdraw(self, sid):
        self.say(self.broker, m.Subscribe(3, (), (sid,)))

    def note(self, scope, life_s=60, data=None):
        nid = v.NotificationId(self.name, next(self.world.numbers))
        wall_ms = self.world.wall_ms
        return v.Notification(nid, "room", "r1", scope, wall_ms, wall_ms + round(life_s * 1_000), data or {"x": 1})

    def publish(self, scope, satisfied=(), **named):
        note = self.note(scope, **named)
        self.say(self.broker, m.Publish(4, (v.Publication(note, tuple(satisfied)),)))
        return note.id

    @property
    def notified(self):
        """Ids of notifications, in order."""
        return [message.notification.id for message in self.heard_of(m.Notify)]


class World:
    def __init__(self, brokers=2, links=None, **settings):
        """``links``: ``b0-b1``; by default all brokers in a chain."""
        named = {"keepalive_s": LONG, "exchange_s": LONG, "cache_cap": 0.0, "covering": "off", **settings}
        self.settings = Settings(**named)
        self.now, self.order, self.numbers = SECOND, count(), count(1)
        self.flying, self.nodes, self.by_address = [], {}, {}
        self.cut, self.log = set(), []
        self.is_checking = True
        names = [f"b{i}" for i in range(brokers)]
        pairs = links if links is not None else [f"b{i}-b{i + 1}" for i in range(brokers - 1)]
        ends = [tuple(int(name[1:]) for name in pair.split("-")) for pair in pairs]
        self.config = ServerConfig(self.settings, brokers, tuple((a, b, 1_000) for a, b in ends))
        self.servers = [("10.0.0.1", 7_000 + i) for i in range(brokers + 1)]
        self.lives = count()
        self.service = self.add(Service(self, "bdrs", self.servers[-1]))
        for name in names:
            self.start(name)

    # ---- nodes

    def add(self, node):
        self.nodes[node.name] = node
        self.by_address[node.address] = node.name
        return node

    def start(self, name):
        """A broker, or one that replaces it without its memory."""
        number = int(name[1:])
        place = Place(f"broker-{number}", number, self.servers[number], self.servers)
        broker = Broker(self.config, place, Chances.streams(derive_seed(1, name, next(self.lives))), WALL_NS)
        self.add(broker)
        return broker

    def stop(self, name):
        """Without a word."""
        del self.by_address[self.nodes.pop(name).address]

    def client(self, name, broker, *scopes):
        return self.add(Customer(self, name, ("10.0.1.1", 1_000 + next(self.order)), broker, scopes)).join()

    def node(self, name, port=None):
        """Of any name."""
        return self.add(Node(self, name, ("10.0.2.1", port or 1_000 + next(self.order))))

    def __getitem__(self, name):
        return self.nodes[name]

    @property
    def brokers(self):
        return [node for node in self.nodes.values() if isinstance(node, Broker)]

    @property
    def wall_ms(self):
        return (self.now + WALL_NS) // MILLISECOND

    # ---- time

    def run(self, seconds=0.3):
        """Let time pass: by default, enough for a few messages one after the other."""
        end = self.now + round(seconds * SECOND)
        while (at := self._next()) is not None and at <= end:
            self.now = max(self.now, at)
            for node in list(self.nodes.values()):
                due = node.next_timer()
                if due is not None and due <= self.now and node.name in self.nodes:
                    node.handle_timer(self.now)
                    self.drain(node)
            while self.flying and self.flying[0][0] <= self.now:
                _, _, data, source, to = heappop(self.flying)
                name = self.by_address.get(to)
                if name is not None and name in self.nodes:
                    self.nodes[name].receive_datagrams([(data, source)], self.now)
                    self.drain(self.nodes[name])
        self.now = end
        return self

    def _next(self):
        timers = [node.next_timer() for node in self.nodes.values()]
        timers += [self.flying[0][0]] if self.flying else []
        return min((timer for timer in timers if timer is not None), default=None)

    def drain(self, node):
        """What a driver does after a step."""
        if self.is_checking:
            node.check_invariants()
        if isinstance(node, Broker):
            self.log += [(self.now, node.name, event) for event in node.events()]
        for data, to in node.datagrams_to_send():
            if not self.is_cut(node.name, self.by_address.get(to, "")):
                heappush(self.flying, (self.now + DELAY, next(self.order), data, node.address, to))

    # ---- links

    def is_cut(self, a, b):
        return frozenset((a, b)) in self.cut or a in self.cut or b in self.cut

    def cut_link(self, pair):
        self.cut.add(frozenset(pair.split("-")))

    def heal(self):
        self.cut.clear()

    # ---- what is seen

    def events(self, kind, of=None):
        return [event for _, name, event in self.log if isinstance(event, kind) and of in (None, name)]

    def counts(self, name):
        return SimpleNamespace(**self[name].peers.counters, **self[name].station.counters)

    def count(self, name, counter):
        broker = self[name]
        return broker.peers.counters[counter] + broker.station.counters[counter]

    def known(self, name):
        """R of a broker: its clients with where they are known from."""
        table = self[name].station.tables.registrations
        return {client: set(table.next_hops(client)) for client in table}

    def held(self, name):
        """T of a broker: subscriptions with where they are from."""
        index = self[name].station.tables.subscriptions
        found = {}
        for where in index.destinations():
            for one in index.held_from(where):
                found.setdefault(one.id, set()).add(where.id)
        return found

    def check_edges(self):
        """At rest, both ends of each edge that is ready hold what the other has told."""
        for broker in self.brokers:
            for other in broker.station.tables.registrations.neighbours:
                if other in self.nodes and broker.name in self[other].station.tables.registrations.neighbours:
                    held = self[other].station.tables.held_from(broker.name)
                    outlet = broker.station.tables.subscriptions.outlet(neighbour(other))
                    sent = sum_of(outlet.sent if outlet else ()), broker.station.tables.registrations.sums(other)[0]
                    assert held == sent, f"{other} holds otherwise than {broker.name} told"
                    assert broker.station.tables.registrations.is_settled(other), f"{broker.name} has not told {other}"


def chain(brokers=2, **settings):
    """Brokers in a row that are connected."""
    world = World(brokers, **settings)
    world.run()
    world.service.publish(*[f"b{i}-b{i + 1}" for i in range(brokers - 1)])
    return world.run()
