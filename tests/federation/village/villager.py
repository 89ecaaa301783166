"""A client that does what it is told: the core of a consumer or provider, and its ears."""

from __future__ import annotations

from enum import StrEnum

from overlay.systems.federation.clients.consumer import Consumer
from overlay.systems.federation.clients.events import Left, Lost, Notified, Registered
from overlay.systems.federation.clients.live import Wanted
from overlay.systems.federation.clients.provider import Content, Provider
from overlay.systems.federation.clients.registering import State as Registration
from overlay.systems.federation.wire import values as v

ENTITIES, NUMBERS = ("r1", "r2"), (1, 2, 3)


class State(StrEnum):
    OUT, IN, LEAVING, GONE = "out", "in", "leaving", "gone"


class Villager:
    """One life of a client. Those with scopes are providers; those that answer produce for queries. ``ear`` has
    ``receive`` (villager, note, sids by verdict, is_cached), ``withdrawn`` (sid) and ``disturb`` (name, cause)."""

    def __init__(self, name, scopes, site, terms, chance, now, ear, *, first=0, answers=True):
        self.name, self.scopes, self.answers = name, tuple(scopes), answers
        self.role = v.Role.PROVIDER if scopes else v.Role.CONSUMER
        self._ear, self._terms = ear, terms
        self._ended, self._withdrawing, self._turn = "", {}, 0
        if scopes:
            me = v.Advertisement(name, 0, v.Role.PROVIDER, "", self.scopes)
            produce = self._produce if answers else None
            self.core = Provider(terms, me, site, chance, now, produce=produce, first=first)
        else:
            self.core = Consumer(terms, name, site, chance, now, first=first)

    # ---- what it is told

    def start(self, now):
        self.core.start(now)

    def subscribe(self, now, scopes, expression, expires_ms, *, once=False, priority=v.Priority.NORMAL):
        expires = self._terms.wall_ms(now) + expires_ms
        return self.core.subscribe([Wanted(tuple(scopes), expires, expression, priority, once)], now)[0]

    def withdraw(self, now, sid):
        self.core.withdraw([sid.number], now)
        self._withdrawing[sid] = None

    def publish(self, now, scope, entity, data, life_ms=60_000):
        return self.core.publish(Content("room", entity, scope, self._terms.wall_ms(now) + life_ms, data), now)

    def leave(self, now):
        self._ended = self._ended or State.LEAVING
        self.core.leave(now)

    def moved(self, now):
        """It has another address."""
        self.core.peers.now = now
        self.core.peers.channel.moved(now)

    def crash(self):
        self._ended = State.GONE

    # ---- what it is

    @property
    def state(self):
        return self._ended or (State.IN if self.core.is_in else State.OUT)

    @property
    def is_live(self):
        return not self._ended

    @property
    def broker(self):
        return self.core.broker

    @property
    def registration(self):
        return self.core.registration

    @property
    def live(self):
        return {} if self._ended or self.scopes else {one.id: one for one in self.core.live}

    @property
    def watched(self):
        return {one.id: one for one in self.core.watched} if self.scopes else {}

    # ---- a Node

    def receive_datagrams(self, datagrams, now):
        self.core.receive_datagrams(datagrams, now)

    def handle_timer(self, now):
        self.core.handle_timer(now)

    def next_timer(self):
        return self.core.next_timer()

    def datagrams_to_send(self):
        return self.core.datagrams_to_send()

    def events(self):
        for event in self.core.events():
            match event:
                case Notified(note, receipts, is_cached):
                    verdicts = [(number, verdict) for number, verdict, _ in receipts]
                    self._ear.receive(self, note, verdicts, is_cached)
                case Registered(broker) | Lost(broker):
                    self._ear.disturb(self.name, f"{type(event).__name__} {broker}")
                case Left():
                    self._ended = State.GONE
        self._settle_withdrawals()
        return ()

    def check_invariants(self):
        self.core.check_invariants()
        assert (self.core.state is Registration.OUT) <= (self._ended != "")

    # ---- inner

    def _settle_withdrawals(self):
        for sid in list(self._withdrawing):
            if sid.number not in (self.core._withdrawn or ()):
                del self._withdrawing[sid]
                self._ear.withdrawn(sid)

    def _produce(self, asked):
        self._turn += 1
        data = {"x": NUMBERS[self._turn % len(NUMBERS)]}
        return Content(
            "room", asked.entity_id or ENTITIES[self._turn % len(ENTITIES)], asked.scope, asked.wall_ms + 60_000, data
        )
