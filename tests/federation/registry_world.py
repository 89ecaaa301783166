"""A registration service and scripted brokers and clients in virtual time, over real channels.

All links have the same delay, and lose what a test cuts. After each step of the service its invariants are checked.
"""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count

from overlay.channel import Down, Up
from overlay.core.addresses import format_address
from overlay.core.chance import Chances, Stream, derive_seed
from overlay.core.node import MILLISECOND, SECOND
from overlay.peers.peers import Heard
from overlay.systems.federation.bdrs.bdrs import RegistrationService
from overlay.systems.federation.config import ServerConfig
from overlay.systems.federation.peers import HeardLoose, Peers
from overlay.systems.federation.settings import Settings
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire.values import BrokerAdvertisement, Candidate
from overlay.systems.roles import Place

SERVICE_AT = ("10.0.0.1", 7000)
DELAY = MILLISECOND
"""One way, ns."""
MOMENT = 4 * DELAY
"""Enough for a session, a request and its answer."""


class Scripted:
    """A peer that says what a test tells it to."""

    def __init__(self, name, address, settings, seed):
        self.name, self.address = name, address
        self.peers = Peers(name, settings, Stream(derive_seed(seed, name, *address)), 0)
        self.heard = []
        """(instant, message)"""
        self.sessions = []
        self.loose = []
        self.taken = 0
        self.endpoint = format_address(address)
        self.requests = count(1)
        self.candidates = ()
        self.is_mobile, self.position = False, None
        self.epoch = 0
        self.brokers, self.edges = {}, ()
        """What BROKERS said."""
        self.known = set()
        """All brokers that it ever said there are."""
        self._parts = []

    def advertisement(self):
        return BrokerAdvertisement(self.name, self.endpoint, self.is_mobile, self.position, "", self.candidates)

    def take(self, now):
        for event in self.peers.events():
            if isinstance(event, Heard):
                assert event.peer == "bdrs"
                self.heard.append((now, event.message))
                if isinstance(event.message, m.Brokers):
                    self._learn(event.message)
            elif isinstance(event, HeardLoose):
                self.loose.append(event)
            elif isinstance(event, Up | Down):
                self.sessions.append((now, event))

    def _learn(self, message):
        assert message.epoch >= self.epoch
        if message.whole is m.Whole.CHANGES:
            assert not self._parts
            self.brokers |= {one.id: one for one in message.brokers}
            self.known |= self.brokers.keys()
            assert set(message.gone) <= self.known, "who is gone was known"
            for broker in message.gone:  # told again if a registration has crossed the epoch that told it
                self.brokers.pop(broker, None)
            self.edges = message.edges
        else:
            self._parts.append(message)
            assert not message.gone
        if message.whole is m.Whole.LAST:
            self.brokers = {one.id: one for part in self._parts for one in part.brokers}
            self.edges = tuple(dict.fromkeys(edge for part in self._parts for edge in part.edges))
            self._parts = []
        if message.whole is not m.Whole.PART:
            self.epoch = message.epoch

    def news(self):
        """The messages since the last call."""
        new, self.taken = self.heard[self.taken :], len(self.heard)
        return [message for _, message in new]


def settings(**named):
    return Settings(**{"broker_keepalive_s": 2.0, **named})


class World:
    def __init__(self, seed=1, **named):
        self.settings, self.seed, self.now = settings(**named), seed, 0
        self.nodes, self.ports, self.order = {}, count(1), count()
        self.flying, self.cut = [], set()
        self.log = []
        """(instant, event) of the service."""
        self.lives = count()
        self.start()

    def start(self):
        """A service, or one that replaces it without its memory."""
        config = ServerConfig(self.settings, 1)
        place = Place("bdrs-0", 1, SERVICE_AT, (("10.0.1.0", 1), SERVICE_AT))
        self.service = RegistrationService(config, place, Chances.streams(next(self.lives) + self.seed), 0)

    def add(self, name, *links, position=None, is_mobile=False, opens=True):
        """A broker with candidates ``(broker, delay in µs)``, all up, or a client."""
        port = next(self.ports)
        node = self.nodes[name] = Scripted(name, (f"10.1.{port >> 8}.{port & 255}", 1000), self.settings, self.seed)
        node.candidates = tuple(Candidate(other, delay, True) for other, delay in links)
        node.position, node.is_mobile = position, is_mobile
        if opens:
            self.open(node)
        return node

    def open(self, node):
        node.peers.now = self.now
        node.peers.open("bdrs", SERVICE_AT, keep=node.is_mobile)
        self._step(node)

    def send(self, node, *messages):
        node.peers.now = self.now
        for message in messages:
            assert node.peers.send("bdrs", message)
        self._step(node)

    def register(self, *nodes, last_epoch=None):
        for node in nodes:
            self._broker(node, last_epoch, True)

    def leave(self, node):
        self._broker(node, None, False)

    def _broker(self, node, last_epoch, is_registering):
        epoch = node.epoch if last_epoch is None else last_epoch
        self.send(node, m.Broker(next(node.requests), node.advertisement(), epoch, is_registering))

    def keep_alive(self, *nodes):
        for node in nodes:
            self.send(node, m.KeepAlive(node.epoch))

    def set_up(self, node, other, is_up):
        """Register with the link to ``other`` up or down."""
        node.candidates = tuple(
            Candidate(one.broker, one.delay_us, is_up if one.broker == other else one.is_up) for one in node.candidates
        )
        self.register(node)

    # ---- time

    def run(self, duration, keeps=()):
        """Let time pass. The nodes ``keeps`` send a keep-alive each half of the interval."""
        end, period = self.now + duration, self.service.registry.period // 2
        turns = [(self.now + turn, node) for node in keeps for turn in range(period, duration, period)]
        for at, node in sorted(turns, key=lambda row: row[0]):
            self._run(at)
            self.keep_alive(node)
        self._run(end)

    def moment(self):
        self.run(MOMENT)

    def _run(self, end):
        while (at := self._next()) is not None and at <= end:
            assert at >= self.now
            self.now = at
            due = self.service.next_timer()
            if due is not None and due <= at:
                self.service.handle_timer(at)
                self._step_service()
            for node in self.nodes.values():
                due = node.peers.channel.next_timer()
                if due is not None and due <= at:
                    node.peers.now = at
                    node.peers.channel.handle_timer(at)
                    self._step(node)
            while self.flying and self.flying[0][0] == at:
                _, _, data, source, to = heappop(self.flying)
                self._arrive(data, source, to)
        self.now = end

    def _next(self):
        timers = [self.service.next_timer(), *(node.peers.channel.next_timer() for node in self.nodes.values())]
        timers += [self.flying[0][0]] if self.flying else []
        return min((timer for timer in timers if timer is not None), default=None)

    def _arrive(self, data, source, to):
        if to == SERVICE_AT:
            self.service.receive_datagrams(((data, source),), self.now)
            self._step_service()
            return
        for node in self.nodes.values():
            if node.address == to:
                node.peers.now = self.now
                node.peers.receive(data, source)
                self._step(node)

    def _step(self, node):
        node.take(self.now)
        self._transmit(node.peers.channel.datagrams_to_send(), node.address, node.name)

    def _step_service(self):
        service = self.service
        service.check_invariants()
        timer = service.next_timer()
        assert timer is None or timer > self.now
        self.log += [(self.now, event) for event in service.events()]
        self._transmit(service.datagrams_to_send(), SERVICE_AT, None)
        assert service.next_timer() == timer

    def _transmit(self, datagrams, source, name):
        for data, to in datagrams:
            other = next((node.name for node in self.nodes.values() if node.address == to), name)
            if other not in self.cut and name not in self.cut:
                heappush(self.flying, (self.now + DELAY, next(self.order), data, source, to))

    # ---- what is seen

    def events(self, kind):
        return [(at, event) for at, event in self.log if isinstance(event, kind)]

    def published(self):
        return self.service.publishing.epochs


def s(seconds):
    return round(seconds * SECOND)
