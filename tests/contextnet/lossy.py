"""A gateway and nodes over a bad network in virtual time, and the oracle of what each may deliver and send.

After each step of an end its invariants are checked. Messages say who sent them and their number. The log behind the
gateway is a list of receipts, which become durable a while after they came, in order.
"""

from __future__ import annotations

from collections import Counter
from heapq import heappop, heappush
from itertools import count

from overlay.core.chance import Stream, derive_seed
from overlay.core.links import LinkShape, Shaper
from overlay.core.node import MILLISECOND
from overlay.systems.contextnet.ends import gateway_end, node_end
from overlay.systems.contextnet.transport.events import Acknowledged, Arrived, Ended, Moved, Opened
from overlay.systems.contextnet.transport.gate import Secret
from overlay.systems.contextnet.transport.layouts import Type
from overlay.systems.contextnet.transport.packets import Kind
from overlay.systems.contextnet.transport.settings import AMPLIFICATION, QUIC, TransportSettings

CLEAR = LinkShape(delay_ms=1)
GATEWAY = "198.51.100.1", 4001
ELSEWHERE = "203.0.113.9", 9


class Peer:
    """A node, and what crossed between it and the gateway."""

    def __init__(self, world, name):
        self.id = bytes([name]) * 16
        self.secret = bytes([name]) * 32
        self.address = world.fresh_address()
        self.sent = 0
        """Messages to the gateway."""
        self.expected = 0
        """The next one that the gateway's stream delivers."""
        self.settled = 0
        """Those whose record is durable, the first ones."""
        self.acknowledged = 0
        self.given = 0
        """Messages of the gateway for it."""
        self.waiting = {}
        """Those that the gateway has accepted, neither acknowledged nor handed back; whether they were delivered."""
        self.handed_back = 0
        self.last = -1
        """The last one that it delivered."""
        self.start(world)

    def start(self, world, epoch=0):
        chance = Stream(derive_seed(world.seed, self.id, epoch))
        self.end = node_end(world.settings)(self.id, self.secret, epoch, world.settings, chance)


class World:
    def __init__(self, nodes=1, settings=None, shape=CLEAR, seed=1, log_ms=2):
        self.settings, self.seed, self.shape = settings or TransportSettings(), seed, shape
        self.log_ms = log_ms
        self.now = 0
        self.shapers, self.flying, self.order, self.ports = {}, [], count(), count(40_000)
        self.log = []
        """Receipts that are not durable yet, by time."""
        self.is_cut = False
        self.received, self.answered, self.proven = Counter(), Counter(), set()
        self.sent = []
        """The last datagrams, as (bytes, source, to)."""
        self.told = []
        self.lives = count()
        self.peers = [Peer(self, i + 1) for i in range(nodes)]
        self.secrets = {peer.id: Secret(peer.secret) for peer in self.peers}
        self.start()

    # ---- what happens

    def start(self):
        """The gateway starts, or restarts: it has forgotten all but its secret."""
        chance = Stream(derive_seed(self.seed, "gateway", next(self.lives)))
        make = gateway_end(self.settings)
        self.gateway = make(1, b"g" * 32, self.secrets.get, self.settings, chance, gateways=(GATEWAY,))
        self.gateway.now = self.now
        self.log.clear()
        for peer in self.peers:
            peer.waiting.clear()

    def fresh_address(self, host="192.0.2.7"):
        return host, next(self.ports)

    def connect(self, *peers):
        for peer in peers or self.peers:
            peer.end.connect((GATEWAY,), self.now)
            self.step(peer)

    def send(self, peer, size=20):
        """From a node."""
        message = f"{peer.sent}".encode().ljust(size, b".")
        done = peer.end.send(Kind.MESSAGE, message, peer.sent, self.now)
        peer.sent += done
        self.step(peer)
        return done

    def give(self, peer, size=20):
        """A message of the gateway for a node."""
        message = f"{peer.given}".encode().ljust(size, b".")
        done = self.gateway.send(peer.id, Kind.MESSAGE, message, peer.given, self.now)
        if done:
            peer.waiting[peer.given] = False
        peer.given += 1
        self.step(None)
        return done

    def move(self, peer, host="192.0.2.7"):
        peer.address = self.fresh_address(host)

    def inject(self, data, source, to):
        self._arrive(data, source, to)

    def set_shape(self, shape):
        self.shape = shape
        self.shapers.clear()

    # ---- time

    def ends(self):
        return [(None, self.gateway), *((peer, peer.end) for peer in self.peers)]

    def step(self, peer):
        end, address = (self.gateway, GATEWAY) if peer is None else (peer.end, peer.address)
        end.check_invariants()
        self._judge(peer, end.events())
        timer = end.next_timer()
        for data, to in end.datagrams_to_send():
            self._transmit(data, address, to)
        assert end.next_timer() == timer, "taking its output does not change its timer"
        assert timer is None or timer > self.now, "no timer is in the past"

    def run(self, ms):
        stop = self.now + round(ms * MILLISECOND)
        while True:
            timers = [(t, i) for i, (_, end) in enumerate(self.ends()) if (t := end.next_timer()) is not None]
            timer, i = min(timers, default=(stop + 1, 0))
            flying = self.flying[0][0] if self.flying else stop + 1
            durable = self.log[0][0] if self.log else stop + 1
            at = min(timer, flying, durable)
            if at > stop:
                break
            self.now = max(at, self.now)
            if timer == at:
                peer, end = self.ends()[i]
                end.handle_timer(self.now)
                self.step(peer)
            elif durable == at:
                self._settle()
            else:
                _, _, data, source, to = heappop(self.flying)
                self._arrive(data, source, to)
        self.now = stop

    def settle(self, s=120):
        """A good network: everything arrives."""
        self.is_cut = False
        self.set_shape(CLEAR)
        self.run(2_000)  # a CLOSE under way arrives, after which a node waits to be told to connect
        self.connect()
        self.run(1_000 * s)
        for peer in self.peers:
            assert peer.end.is_open
            assert peer.acknowledged == peer.settled == peer.sent, "all is durable, and known to be"
            assert not peer.waiting, "all is acknowledged or handed back"

    def _settle(self):
        _, peer, number, receipt = self.log.pop(0)
        peer.settled = max(peer.settled, number + 1)
        self.gateway.settle(receipt, self.now)
        self.step(None)

    # ---- the network

    def _transmit(self, data, source, to):
        self.sent = [*self.sent[-200:], (data, source, to)]
        if source == GATEWAY:
            self._count_answer(data, to)
        shaper = self.shapers.get((source, to))
        if shaper is None:
            chance = Stream(derive_seed(self.seed, "link", len(self.shapers), self.now))
            shaper = self.shapers[source, to] = Shaper(self.shape, chance)
        for at, copy in shaper.transmit(data, self.now):
            heappush(self.flying, (at, next(self.order), copy, source, to))

    def _count_answer(self, data, to):
        if self.settings.transport == QUIC:  # it keeps nothing for an address without a token of its own
            self.proven |= {line.address for line in self.gateway._board.by_cid.values()}
        if to not in self.proven:
            self.answered[to] += len(data)
            assert self.answered[to] <= AMPLIFICATION * self.received[to], "at most three times what came from there"
        if self.settings.transport != QUIC and data[0] & 15 == Type.ACCEPT:
            self.proven.add(to)

    def _arrive(self, data, source, to):
        if self.is_cut:
            return
        if to == GATEWAY:
            self.received[source] += len(data)
            self.gateway.receive_datagrams([(data, source)], self.now)
            self.step(None)
            return
        peer = next((one for one in self.peers if one.address == to), None)
        if peer is not None:
            peer.end.receive_datagrams([(data, source)], self.now)
            self.step(peer)

    # ---- the oracle

    def _judge(self, peer, events):
        for event in events:
            self.told.append((peer, event))
            whose = peer or next((one for one in self.peers if one.id == event.node), None)
            if isinstance(event, Moved):
                self.proven.add(event.address)
            elif peer is None:
                self._judge_gateway(whose, event)
            else:
                self._judge_node(whose, event)

    def _judge_gateway(self, peer, event):
        if isinstance(event, Opened) and not event.resumed:
            peer.expected = None
        elif isinstance(event, Arrived):
            number = int(event.data.rstrip(b"."))
            if peer.expected is None:  # a new stream begins with what the node does not know to be durable
                assert peer.acknowledged <= number <= peer.settled
            else:
                assert number == peer.expected, "in order, each once"
            peer.expected = number + 1
            at = max(self.now + self.log_ms * MILLISECOND, self.log[-1][0] if self.log else 0)
            self.log.append((at, peer, number, event.receipt))
        elif isinstance(event, Acknowledged):
            assert peer.waiting.pop(event.token), "what was acknowledged was delivered"
        elif isinstance(event, Ended):
            assert list(event.undelivered) == list(peer.waiting), "handed back in order"
            peer.handed_back += len(peer.waiting)
            peer.waiting.clear()

    def _judge_node(self, peer, event):
        if isinstance(event, Acknowledged):
            assert event.token == peer.acknowledged, "in order, each once"
            assert event.token < peer.settled, "its record is durable"
            peer.acknowledged += 1
        elif isinstance(event, Arrived):
            number = int(event.data.rstrip(b"."))
            assert number > peer.last, "in order, each once"
            peer.last = number
            if number in peer.waiting:
                peer.waiting[number] = True
        elif isinstance(event, Ended):
            assert list(event.undelivered) == list(range(peer.acknowledged, peer.sent))

    def events(self, kind, peer=None):
        return [event for whose, event in self.told if whose is peer and isinstance(event, kind)]
