"""A client among scripted brokers, over real channels in virtual time."""

from __future__ import annotations

from heapq import heappop, heappush
from itertools import count

from overlay.core.addresses import format_address
from overlay.core.chance import Stream
from overlay.core.node import MILLISECOND, SECOND
from overlay.peers.peers import Heard
from overlay.systems.federation.clients.terms import Site, Terms
from overlay.systems.federation.peers import HeardLoose, Peers
from overlay.systems.federation.settings import Settings
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire.values import BrokerAdvertisement, Found

WALL = 1_700_000_000 * SECOND
CLIENT = ("10.0.1.1", 1025)


class ScriptedBroker:
    """Registers clients, keeps what they were told, and can forget, refuse, be silent and start again."""

    def __init__(self, name, address, settings):
        self.name, self.address, self._settings = name, address, settings
        self._lives = 0
        self.heard = []
        """(time in ms, message) of all clients."""
        self.refuse_next = []
        """Codes for the next requests but REGISTER, in order."""
        self.refuse_register = []
        self.is_mute = False
        """Hears and acknowledges in the channel, and answers nothing."""
        self.found = []
        """What it answers to LOOKUP and FIND."""
        self.restart()

    def restart(self):
        self._lives += 1
        self.peers = Peers(self.name, self._settings, Stream(hash((self.name, self._lives)) & 0xFFFF), WALL)
        self.registrations, self.told = {}, {}

    def forget(self):
        self.registrations, self.told = {}, {}

    def receive_datagrams(self, datagrams, now):
        self.handle_timer(now)
        for data, source in datagrams:
            self.peers.receive(data, source)
        self._take()

    def handle_timer(self, now):
        self.peers.now = now
        self.peers.channel.handle_timer(now)
        self._take()

    def next_timer(self):
        return self.peers.channel.next_timer()

    def datagrams_to_send(self):
        return self.peers.channel.datagrams_to_send()

    def _take(self):
        for event in self.peers.events():
            match event:
                case Heard(peer=peer, message=message):
                    self.heard.append((self.peers.now // MILLISECOND, message))
                    if not self.is_mute:
                        self._answer(peer, message)
                case HeardLoose(_, m.Discover(nonce), source) if not self.is_mute:
                    self.heard.append((self.peers.now // MILLISECOND, m.Discover(nonce)))
                    own = BrokerAdvertisement(self.name, format_address(self.address))
                    self.peers.send_loose(source, m.Here(nonce, own))

    def _answer(self, peer, message):
        peers = self.peers
        match message:
            case m.Register(req, advertisement):
                if self.refuse_register:
                    peers.refuse(peer, message, self.refuse_register.pop(0))
                    return
                known = self.registrations.get(peer)
                if known is None or known.registration != advertisement.registration:
                    self.told[peer] = {}
                self.registrations[peer] = advertisement
                peers.accept(peer, req)
            case m.Find(req) | m.Lookup(req):
                peers.send(peer, m.Found(req, tuple(self.found)))
            case m.Unregister():
                self.registrations.pop(peer, None)
                self.told.pop(peer, None)
            case _ if peer not in self.registrations:
                peers.refuse(peer, message, m.Code.UNKNOWN)
            case m.KeepAlive():
                pass
            case _ if self.refuse_next:
                peers.refuse(peer, message, self.refuse_next.pop(0), "as scripted")
            case m.Subscribe(req, added, removed):
                for sid in removed:
                    self.told[peer].pop(sid, None)
                self.told[peer].update((one.id, one) for one in added)
                peers.accept(peer, req)
            case m.Publish(req):
                peers.accept(peer, req)
            case m.Query(req):
                peers.send(peer, m.Answer(req, m.Code.NO_PROVIDER))

    def notify(self, peer, notification, sids, *, is_cached=False):
        for sid in sids:
            one = self.told.get(peer, {}).get(sid)
            if one is not None and one.once:
                del self.told[peer][sid]
        self.peers.send(peer, m.Notify(notification, tuple(sids), is_cached))

    def live(self, peer):
        """The ids of what the client has told, and has not expired."""
        now_ms = (self.peers.now + WALL) // MILLISECOND
        return {sid for sid, one in self.told.get(peer, {}).items() if one.expires > now_ms}

    def kinds(self):
        return [type(message).__name__ for _, message in self.heard]

    def all(self, kind):
        return [message for _, message in self.heard if isinstance(message, kind)]


class World:
    """Datagrams take 1 ms. Those from and to ``cut`` addresses are lost."""

    def __init__(self, brokers=1, **settings):
        self.settings = Settings(**{"discovery": "manual", "keepalive_s": 20.0, **settings})
        self.now = 0
        self.nodes, self.cut = {}, set()
        self._queue, self._order = [], count()
        self.brokers = [self._server(f"b{index}", index) for index in range(brokers)]
        self.service = self._server("bdrs", 99)
        group = tuple(one.address for one in self.brokers)
        self.terms = Terms(self.settings, WALL, self.service.address, group)

    def _server(self, name, index):
        node = ScriptedBroker(name, ("10.0.0.1", 7000 + index), self.settings)
        self.nodes[node.address] = node
        return node

    def site(self, index=0):
        return Site(f"b{index}", self.brokers[index].address)

    def found(self, *indices):
        return [Found(f"b{index}", format_address(self.brokers[index].address)) for index in indices]

    def add(self, client, address=CLIENT):
        self.nodes[address] = client
        client.start(self.now)
        self.collect()
        return client

    @property
    def wall_ms(self):
        return (self.now + WALL) // MILLISECOND

    def collect(self):
        for address, node in self.nodes.items():
            for data, to in node.datagrams_to_send():
                if address not in self.cut:
                    heappush(self._queue, (self.now + MILLISECOND, next(self._order), to, data, address))

    def run(self, seconds):
        """So long, with timers before datagrams of an instant."""
        until = self.now + round(seconds * SECOND)
        self.collect()
        while True:
            timers = [(at, address) for address, node in self.nodes.items() if (at := node.next_timer()) is not None]
            due = min([at for at, _ in timers] + [entry[0] for entry in self._queue[:1]], default=until + 1)
            if due > until:
                self.now = until
                return
            self.now = max(self.now, due)
            for at, address in timers:
                if at <= self.now:
                    self._step(address, lambda node: node.handle_timer(self.now))
            while self._queue and self._queue[0][0] <= self.now:
                _, _, to, data, source = heappop(self._queue)
                if to in self.nodes and to not in self.cut:
                    self._step(to, lambda node, data=data, source=source: self._receive(node, data, source))
            self.collect()

    def _receive(self, node, data, source):
        node.receive_datagrams(((data, source),), self.now)

    def _step(self, address, act):
        node = self.nodes[address]
        act(node)
        if not isinstance(node, ScriptedBroker):
            node.check_invariants()


def drained(client, kind):
    """The events of a kind, taken from the client."""
    return [event for event in client.events() if isinstance(event, kind)]
