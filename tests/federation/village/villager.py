"""A client that does what it is told: the client's side of sections 8 and 9, without a plan of its own.

::

    OUT --session up: REGISTER--> WAIT --ACK--> IN: all live subscriptions, all publications without an answer
     ^                             ^             |
     |-------- Down ---------------|-- NACK UNKNOWN --'        leave: UNREGISTER --ACK--> GONE
"""

from __future__ import annotations

from enum import StrEnum

from overlay.channel import Down, Up
from overlay.core.addresses import parse_address
from overlay.core.node import SECOND
from overlay.core.timers import Timers, earliest
from overlay.systems.federation.names import SERVICE
from overlay.systems.federation.peers import Heard, Peers
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire import values as v
from tests.federation.naive import satisfies

TRY_AGAIN = SECOND
ENTITIES, NUMBERS = ("r1", "r2"), (1, 2, 3)


class State(StrEnum):
    OUT, WAIT, IN, LEAVING, GONE = "out", "wait", "in", "leaving", "gone"


class Villager:
    """One life of a client. ``is_near`` clients try their own broker again instead of asking for another one."""

    def __init__(self, name, scopes, broker, service, settings, chance, wall_offset_ns, *, is_near=False, answers=True):
        self.name, self.scopes, self.is_near, self.answers = name, tuple(scopes), is_near, answers
        self.role = v.Role.PROVIDER if scopes else v.Role.CONSUMER
        self.settings, self.service = settings, service
        self.broker, self.broker_address = broker
        self.peers = Peers(name, settings, chance, wall_offset_ns)
        self.timers = Timers()
        self.state = State.OUT
        self.registration = self.last = 0
        self.live, self.withdrawing = {}, {}
        """Subscriptions by id, and ids whose withdrawal has no answer yet."""
        self.watched = {}
        """What a provider is asked for."""
        self.requests = {}
        """Messages without an answer, by ``req``."""
        self.tried = []
        """Brokers, the last one last, since it was registered."""
        self.on_notified = lambda message: None
        self.on_withdrawn = lambda sid: None
        self.on_disturbed = lambda cause: None

    # ---- what it is told

    def start(self, now):
        self.peers.now = now
        self._open()

    def subscribe(self, now, scopes, expression, expires_ms, *, once=False, priority=v.Priority.NORMAL):
        self.peers.now = now
        sid = v.SubscriptionId(self.name, self._number())
        one = v.Subscription(sid, tuple(scopes), self.peers.wall_ms + expires_ms, expression, priority, once)
        self.live[sid] = one
        if self.state is State.IN:
            self._request(m.Subscribe(self._number(), (one,)))
        return one

    def withdraw(self, now, sid):
        self.peers.now = now
        del self.live[sid]
        self.withdrawing[sid] = None
        if self.state is State.IN:
            self._request(m.Subscribe(self._number(), (), (sid,)))

    def publish(self, now, scope, entity, data, life_ms=60_000, satisfied=()):
        self.peers.now = now
        at = self.peers.wall_ms
        note = v.Notification(
            v.NotificationId(self.name, self._number()), "room", entity, scope, at, at + life_ms, data
        )
        self._request(m.Publish(self._number(), (v.Publication(note, tuple(satisfied)),)))
        return note

    def leave(self, now):
        self.peers.now = now
        self.on_disturbed("left")
        self.live.clear()
        if self.state is State.IN:
            self.state = State.LEAVING
            self._request(m.Unregister(self._number(), self.registration))
        else:
            self.state = State.GONE

    def moved(self, now):
        """It has another address."""
        self.peers.now = now
        self.peers.channel.moved(now)

    @property
    def is_live(self):
        return self.state is not State.GONE and self.state is not State.LEAVING

    # ---- a Node

    def receive_datagrams(self, datagrams, now):
        self._begin(now)
        for data, source in datagrams:
            self.peers.receive(data, source)
        self._take_events()

    def handle_timer(self, now):
        self._begin(now)
        self._take_events()

    def next_timer(self):
        return earliest(self.timers.next_timer(), self.peers.channel.next_timer())

    def datagrams_to_send(self):
        return self.peers.channel.datagrams_to_send()

    def events(self):
        return ()

    def check_invariants(self):
        self.peers.check_invariants()

    # ---- inner

    def _begin(self, now):
        self.peers.now = now
        for key in self.timers.due(now):
            {"keep alive": self._keep_alive, "open": self._open, "discover": self._discover}[key]()
        self.peers.channel.handle_timer(now)

    def _number(self):
        self.last = max(self.last + 1, self.peers.wall_ms * 1000)
        return self.last

    def _open(self):
        if self.state is not State.GONE and not self.peers.open(self.broker, self.broker_address):
            self.timers.set("open", self.peers.now + TRY_AGAIN)

    def _take_events(self):
        for event in self.peers.events():
            match event:
                case Up(peer) if peer.decode() == self.broker:
                    self._register()
                case Up(peer) if peer.decode() == SERVICE:
                    self.peers.send(SERVICE, m.Find(1))
                case Down(peer, reason) if peer.decode() == self.broker:
                    self._down(reason)
                case Down(peer) if peer.decode() == SERVICE and "discover" not in self.timers:
                    self.timers.set("discover", self.peers.now + TRY_AGAIN)
                case Heard(peer, message) if peer == self.broker:
                    self._handle(message)
                case Heard(peer, m.Found() as message) if peer == SERVICE:
                    self._found(message)

    def _register(self):
        if self.state in (State.GONE, State.LEAVING):
            return
        self.state, self.registration = State.WAIT, self._number()
        self.watched.clear()
        self.on_disturbed("registered again")
        own = v.Advertisement(self.name, self.registration, self.role, "", self.scopes)
        self._request(m.Register(self._number(), own))

    def _request(self, message):
        self.requests[message.req] = message
        if self.state in (State.IN, State.LEAVING) or isinstance(message, m.Register):
            self.peers.send(self.broker, message)

    def _handle(self, message):
        match message:
            case m.Ack(req):
                self._accepted(self.requests.pop(req, None))
            case m.Nack(req=req):
                self._refused(message, self.requests.get(req))
            case m.Notify():
                self._notified(message)
            case m.Offer(added, withdrawn):
                self._offered(added, withdrawn)

    def _accepted(self, request):
        match request:
            case m.Register(_, advertisement) if advertisement.registration == self.registration:
                self._joined()
            case m.Subscribe(removed=removed):
                for sid in removed:
                    self.withdrawing.pop(sid, None)
                    self.on_withdrawn(sid)
            case m.Unregister():
                self.state = State.GONE
                self.peers.close(self.broker)

    def _joined(self):
        if self.state is not State.WAIT:
            return
        self.state, self.tried = State.IN, []
        self.timers.set("keep alive", self.peers.now + self._period())
        waiting = [one for one in self.requests.values() if isinstance(one, m.Publish)]
        self.requests = {one.req: one for one in waiting}
        live = tuple(one for one in self.live.values() if one.expires > self.peers.wall_ms)
        if live or self.withdrawing:
            self._request(m.Subscribe(self._number(), live, tuple(self.withdrawing)))
        for one in waiting:
            self.peers.send(self.broker, one)

    def _period(self):
        return round(self.settings.keepalive_share * self.settings.keepalive_s * SECOND)

    def _refused(self, message, request):
        if message.code is m.Code.UNKNOWN:
            if self.state is State.LEAVING:
                self.state = State.GONE
            elif self.state is State.IN:
                self._register()
        elif message.code is m.Code.INVALID and request is not None:
            self.peers.send(self.broker, m.KeepAlive(self.registration))
            self.peers.send(self.broker, request)
        elif request is not None:
            raise AssertionError(f"{self.name}: {request} was refused: {message}")

    def _keep_alive(self):
        if self.state is State.IN:
            self.peers.send(self.broker, m.KeepAlive(self.registration))
            self.timers.set("keep alive", self.peers.now + self._period())

    def _down(self, reason):
        if self.state is State.LEAVING:
            self.state = State.GONE
        if self.state is State.GONE:
            return
        self.on_disturbed(f"its session ended ({reason})")
        self.state = State.OUT
        if reason == "reset" or self.is_near:
            self.timers.set("open", self.peers.now + (0 if reason == "reset" else TRY_AGAIN))
        else:
            self.tried.append(self.broker)
            self._discover()

    def _discover(self):
        if self.state is State.OUT:
            self.timers.set("discover", self.peers.now + TRY_AGAIN)
            self.peers.open(SERVICE, self.service)
            self.peers.send(SERVICE, m.Find(1))

    def _found(self, message):
        """The first that was not tried, or that was tried first."""
        if self.state is not State.OUT or not message.found:
            return
        ranks = {name: rank for rank, name in enumerate(self.tried, 1)}
        one = min(message.found, key=lambda found: ranks.get(found.id, 0))
        self.timers.cancel("discover")
        self.broker, self.broker_address = one.id, parse_address(one.endpoint)
        self._open()

    def _notified(self, message):
        self.on_notified(message)
        for sid in message.satisfied:
            if sid in self.live and self.live[sid].once:
                del self.live[sid]

    def _offered(self, added, withdrawn):
        for one in added:
            self.watched[one.id] = one
            if one.once and self.answers:
                self._answer(one)
        for sid in withdrawn:
            self.watched.pop(sid, None)

    def _answer(self, one):
        """With the first note that satisfies it, if there is one."""
        for scope in one.scopes:
            for entity in ENTITIES:
                for x in NUMBERS:
                    note = v.Notification(v.NotificationId(self.name, 0), "room", entity, scope, 0, 0, {"x": x})
                    if scope in self.scopes and satisfies(one.expression, note):
                        self.watched.pop(one.id)
                        self.publish(self.peers.now, scope, entity, {"x": x}, satisfied=(one.id,))
                        return
