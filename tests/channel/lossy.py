"""Channels over a bad network in virtual time, and the oracle: what was delivered is a prefix of what was sent.

After each step of any channel its invariants are checked. A message says which session sent it (``life``, the peer, how
many sessions with it ended before) and its number in it, so that nothing can cross from one session to another unseen.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from unittest.mock import patch

from overlay.channel import Back, Channel, ChannelSettings, Down, Loose, Message, Moved, Quiet, Reason, Up
from overlay.channel.session import Session
from overlay.core.chance import Stream, derive_seed
from overlay.core.links import LinkShape, Shaper
from overlay.core.node import MILLISECOND

CLEAR = LinkShape(delay_ms=1)
KEY = b"secret"


@dataclass
class Sending:
    """One session, seen from its sender."""

    accepted: list = field(default_factory=list)
    firm: list = field(default_factory=list)
    """Those that are never dropped."""
    delivered: list = field(default_factory=list)
    receiving: tuple | None = None
    """The only session of the other end that delivers them."""


class Node:
    """One id. A restart is another life of it."""

    lives = count()

    def __init__(self, id, address, settings, key, seed):
        self.id, self.address = id, address
        self.life = next(self.lives)
        self.channel = Channel(id, settings, Stream(derive_seed(seed, self.life)), key)
        self.ended = {}
        """By peer: sessions that have ended."""
        self.ups = {}
        """By peer: sessions that were up."""
        self.up = set()
        self.quiet = set()
        self.paused = set()


@contextmanager
def numbers_after(offset):
    """Let the records of new sessions have the numbers after ``offset``, in both directions."""
    begin = Session.__init__

    def begin_there(session, *arguments, **named):
        begin(session, *arguments, **named)
        session.start_sending().acked = session.start_receiving().ack = offset

    with patch.object(Session, "__init__", begin_there):
        yield


class World:
    def __init__(self, ids=(b"b0", b"b1"), settings=None, shape=CLEAR, seed=1, is_sealed=True):
        self.settings, self.seed = settings or ChannelSettings(), seed
        self.key = KEY if is_sealed else None
        self.now = 0
        self.shape = shape
        self.shapers = {}
        self.flying = []
        self.order = count()
        self.ports = count(1)
        self.nodes = {}
        self.cut = set()
        """Pairs of ids between which nothing passes."""
        self.sendings = {}
        self.sent = []
        """The last datagrams, as (bytes, source, to)."""
        self.datagrams = 0
        self.events = []
        self.loose = []
        self.trace = []
        """All datagrams, as (time, bytes, source, to)."""
        for id in ids:
            self.start(id)

    # ---- what happens

    def start(self, id):
        self.nodes[id] = Node(id, self.fresh_address(), self.settings, self.key, self.seed)

    def fresh_address(self):
        return "10.0.0.1", next(self.ports)

    def open(self, a, b, keep=False):
        done = self.nodes[a].channel.open(b, self.nodes[b].address, self.now, keep)
        self.step(self.nodes[a])
        return done

    def send(self, a, b, size=20, drop=None):
        node = self.nodes[a]
        key = node.life, b, node.ended.get(b, 0)
        sending = self.sendings.setdefault(key, Sending())
        message = repr((*key, len(sending.accepted))).encode().ljust(size, b".")
        done = node.channel.send(b, message, self.now, drop)
        if done:
            sending.accepted.append(message)
            if drop is None:
                sending.firm.append(message)
        self.step(node)
        return done

    def call(self, a, name, *arguments):
        node = self.nodes[a]
        getattr(node.channel, name)(*arguments)
        self.step(node)

    def pause(self, a, b):
        channel = self.nodes[a].channel
        channel.handle_timer(self.now)  # a pause has no time of its own
        session = channel._station.sessions.get(b)
        if session is not None:
            self.nodes[a].paused.add(b)
            self.call(a, "pause", b)

    def resume(self, a, b):
        self.nodes[a].paused.discard(b)
        self.call(a, "resume", b, self.now)

    def move(self, a, is_told=True):
        self.nodes[a].address = self.fresh_address()
        if is_told:
            self.call(a, "moved", self.now)

    def restart(self, a):
        self.start(a)

    def inject(self, data, source, to):
        self._arrive(data, source, to)

    # ---- time

    def stall(self, ms):
        """Time passes, and no driver gets to run: what is due is late, also for what a user calls next."""
        self.now += round(ms * MILLISECOND)

    def step(self, node):
        """Take what the node has to say."""
        node.channel.check_invariants()
        self._judge(node, node.channel.events())
        timer = node.channel.next_timer()
        for data, to in node.channel.datagrams_to_send():
            self._transmit(data, node.address, to)
        assert node.channel.next_timer() == timer, "taking its output does not change its timer"
        assert timer is None or timer > self.now, "no timer is in the past"
        self._judge(node, node.channel.events())

    def run(self, ms):
        """Let time pass."""
        end = self.now + round(ms * MILLISECOND)
        while True:
            timers = [(t, n.id) for n in self.nodes.values() if (t := n.channel.next_timer()) is not None]
            at, id = min(timers, default=(end + 1, b""))
            if min(at, self.flying[0][0] if self.flying else end + 1) > end:
                break
            if self.flying and self.flying[0][0] < at:
                arrives, _, data, source, to = heappop(self.flying)
                self.now = max(self.now, arrives)
                self._arrive(data, source, to)
            else:
                self.now = max(self.now, at)
                self.nodes[id].channel.handle_timer(self.now)
                self.step(self.nodes[id])
        self.now = end

    def settle(self, s=20):
        """A good network, no pauses, everything told: what is up at both ends is delivered."""
        self.cut.clear()
        self.set_shape(CLEAR)
        for a, node in self.nodes.items():
            for b in list(node.paused):
                self.resume(a, b)
            for b, other in self.nodes.items():
                if a != b:
                    self.call(a, "readdress", b, other.address, self.now)
        self.run(1_000 * s)
        for node in self.nodes.values():
            for peer, session in node.channel._station.sessions.items():
                other = self.nodes[peer].channel._station.sessions.get(node.id)
                if session.theirs and other is not None and other.ours == session.theirs:
                    assert not node.channel.queued(peer), "all is acknowledged"

    def set_shape(self, shape):
        self.shape = shape
        self.shapers.clear()

    # ---- the network

    def _transmit(self, data, source, to):
        self.datagrams += 1
        self.sent = [*self.sent[-200:], (data, source, to)]
        self.trace.append((self.now, data, source, to))
        shaper = self.shapers.get((source, to))
        if shaper is None:
            chance = Stream(derive_seed(self.seed, "link", len(self.shapers), self.now))
            shaper = self.shapers[source, to] = Shaper(self.shape, chance)
        for at, copy in shaper.transmit(data, self.now):
            heappush(self.flying, (at, next(self.order), copy, source, to))

    def _arrive(self, data, source, to):
        node = next((one for one in self.nodes.values() if one.address == to), None)
        sender = next((one for one in self.nodes.values() if one.address == source), None)
        if node is None or (sender is not None and frozenset((node.id, sender.id)) in self.cut):
            return
        node.channel.receive(data, source, self.now)
        self.step(node)

    # ---- the oracle

    def _judge(self, node, events):
        for event in events:
            self.events.append((node.id, event))
            if isinstance(event, Message):
                self._judge_message(node, event)
            elif isinstance(event, Up):
                assert event.peer not in node.up
                node.up.add(event.peer)
                node.ups[event.peer] = node.ups.get(event.peer, 0) + 1
            elif isinstance(event, Down):
                self._judge_down(node, event)
            elif isinstance(event, Quiet):
                assert event.peer not in node.quiet
                node.quiet.add(event.peer)
            elif isinstance(event, Back):
                node.quiet.remove(event.peer)
            elif isinstance(event, Loose):
                self.loose.append(event)
            else:
                assert isinstance(event, Moved) and event.peer in node.up

    def _judge_message(self, node, event):
        assert event.peer in node.up and event.peer not in node.paused
        life, to, index, number = eval(event.message.rstrip(b"."))
        sending = self.sendings[life, to, index]
        assert to == node.id
        receiving = node.life, event.peer, node.ups[event.peer]
        assert sending.receiving in (None, receiving), "one session delivers what one session sent"
        sending.receiving = receiving
        assert event.message == sending.accepted[number]
        assert not sending.delivered or sending.delivered[-1] < number, "in order, each once"
        sending.delivered.append(number)
        firm = [sending.accepted[i] for i in sending.delivered if sending.accepted[i] in sending.firm]
        assert firm == sending.firm[: len(firm)], "none is missing but those that may be dropped"

    def _judge_down(self, node, event):
        index = node.ended.get(event.peer, 0)
        node.ended[event.peer] = index + 1
        node.up.discard(event.peer)
        node.quiet.discard(event.peer)
        node.paused.discard(event.peer)
        assert event.reason in Reason
        sending = self.sendings.get((node.life, event.peer, index), Sending())
        rest = iter(sending.accepted)
        assert all(message in rest for message in event.undelivered), "handed back in order"
        settled = [m for m in sending.firm if m not in event.undelivered]
        assert settled == sending.firm[: len(settled)]
        delivered = {sending.accepted[i] for i in sending.delivered}
        assert set(settled) <= delivered, "what was acknowledged was delivered"

    def messages(self, id):
        return [event.message for whose, event in self.events if whose == id and isinstance(event, Message)]

    def names(self, id):
        return [type(event).__name__ for whose, event in self.events if whose == id]
