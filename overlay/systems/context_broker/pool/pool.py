"""All requests of one network: their tries and timers. Pure; the driver opens ports and sends."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache, partial
from heapq import heappop, heappush

from overlay.core.addresses import Address
from overlay.systems.context_broker.clients import questions
from overlay.systems.context_broker.clients.exchange import (
    Exchange,
    Retry,
    SameStamp,
    Timestamps,
    TracedTimestamps,
    WallClock,
)
from overlay.systems.context_broker.clients.questions import Question
from overlay.systems.context_broker.pool.health import Health
from overlay.systems.context_broker.pool.hedging import ASKS_PER_HEDGE, Hedging
from overlay.systems.context_broker.pool.pool_requests import PoolRequest
from overlay.systems.context_broker.pool.ports import Lane, Open, Ports, Try
from overlay.systems.context_broker.pool.stamps import EntryStamps, GivenStamp
from overlay.systems.context_broker.wire.messages import Key

ASKED = Retry(give_up_s=3600)
"""The request's deadline ends it earlier."""
PINGED = Retry(again_s=(0.2, 0.4), give_up_s=0.7)

_request = lru_cache(maxsize=4096)(partial(questions.request, is_quiet=True))


class TooMany(Exception):
    """All ports of the network are in use."""


class Pool:
    """``now`` is monotonic nanoseconds. After each call, the driver sends ``outgoing``, closes ``ports.closing`` and
    resolves ``finished``, each emptied by its ``take_…`` method."""

    def __init__(self, wall: WallClock, open_port: Open, stamps: EntryStamps | None = None) -> None:
        self.health = Health()
        self.hedging = Hedging()
        self.hedged = self.asked = 0
        """Counters."""
        self._wall = wall
        self.stamps = stamps or EntryStamps(wall)
        self.ports = Ports(wall, open_port)
        self._pings: dict[Address, Try] = {}
        self._timers: list[tuple[int, int, PoolRequest | Try]] = []
        self._number = 0
        self.outgoing: list[tuple[int, bytes]] = []
        self.finished: list[PoolRequest] = []

    def ask(
        self,
        key: Key,
        brokers: tuple[Address, ...],
        now: int,
        deadline: int,
        *,
        holder: Address | None = None,
        is_alone: bool = False,
        trace_one_in: int = 0,
    ) -> PoolRequest:
        """Search for data. ``holder`` is a broker known to have it. Raises ``TooMany``, ``WireError``."""
        self._try_again(now)
        self.asked += 1
        self.hedging.asked()
        order = self.health.order(key, brokers, holder)
        wait = None if is_alone else self.hedging.wait_ns
        question = _request(key)
        request = PoolRequest(
            question, order, now, deadline, is_alone=is_alone, hedge_ns=wait, trace_one_in=trace_one_in
        )
        return self._begin(request, now)

    def provide(
        self,
        provider: str,
        key: Key,
        payload: bytes,
        valid_ms: int,
        brokers: tuple[Address, ...],
        now: int,
        deadline: int,
        *,
        holder: Address | None = None,
        is_alone: bool = False,
        given: GivenStamp | None = None,
    ) -> PoolRequest:
        """Store data at one broker, the holder of its earlier value if that answers; ``given``: with these times.
        Raises ``TooMany``, ``WireError``."""
        self._try_again(now)
        order = self.health.order(key, brokers, holder)
        timestamps = given or self.stamps.of((provider, key))
        question = questions.update("A", provider, key, valid_ms, payload, timestamps.begin_of)
        return self._begin(PoolRequest(question, order, now, deadline, timestamps=timestamps, is_alone=is_alone), now)

    def withdraw(
        self, provider: str, key: Key, until: int, stamp: int, broker: Address, now: int, deadline: int
    ) -> PoolRequest:
        """Withdraw data at one broker, as ``Withdraw``. Raises ``TooMany``, ``WireError``."""
        question, timestamps = questions.withdrawal(provider, key, until), SameStamp(stamp)
        return self._begin(PoolRequest(question, (broker,), now, deadline, timestamps=timestamps, is_alone=True), now)

    def receive_datagram(self, number: int, data: bytes, now: int) -> None:
        one = self.ports.current_on(number)
        if not one:
            return
        one.exchange.receive_datagram(data, one.exchange.broker, now)
        if one.exchange.outcome:
            self._settle(one, now)

    def is_refused(self, number: int, now: int) -> None:
        """The host of the lane's broker reports that its port is closed."""
        one = self.ports.current_on(number)
        if one:
            self._fail(one, "unreachable", now)

    def handle_timer(self, now: int) -> None:
        timers = self._timers
        while timers and timers[0][0] <= now:
            what = heappop(timers)[2]
            if isinstance(what, Try):
                self._heed_ping(what, now)
            elif not what.outcome and what.timer <= now:
                self._heed(what, now)

    def next_timer(self) -> int | None:
        return self._timers[0][0] if self._timers else None

    def cancel(self, request: PoolRequest) -> None:
        """Its caller does not wait for it any more."""
        request.give_up()
        self._drop_tries(request)

    def keep(self, brokers: Collection[Address]) -> None:
        """These are the network's brokers now: forget the others and close their unused ports."""
        self.health.keep(brokers)
        self.ports.keep(brokers)

    def take_outgoing(self) -> Sequence[tuple[int, bytes]]:
        outgoing, self.outgoing = self.outgoing, []
        return outgoing

    def take_finished(self) -> Sequence[PoolRequest]:
        finished, self.finished = self.finished, []
        return finished

    def _begin(self, request: PoolRequest, now: int) -> PoolRequest:
        if not self.ports.has_room:
            raise TooMany
        self._start_try(request, now)
        if not request.outcome:
            self._arm(request)
        return request

    def _start_try(self, request: PoolRequest, now: int, *, is_hedge: bool = False) -> None:
        """At the next broker that there is a way to."""
        while request.has_more:
            broker = request.take_broker()
            lane = self.ports.take(broker)
            if lane is None:
                request.failed.append((broker, "unreachable", 0))
                continue
            one = self._exchange(lane, request.question, self._timestamps(request, lane), ASKED, now)
            one.request, one.is_hedge = request, is_hedge
            request.open.append(one)
            return
        if not request.open:
            request.give_up()
            self.finished.append(request)

    def _exchange(self, lane: Lane, question: Question, timestamps: Timestamps, retry: Retry, now: int) -> Try:
        exchange = Exchange(question, lane.broker, now, timestamps, retry)
        one = lane.current = Try(lane, exchange, None, False)
        self._send(one)
        return one

    def _timestamps(self, request: PoolRequest, lane: Lane) -> Timestamps:
        if request.timestamps is not None:
            return request.timestamps
        if request.trace_one_in:
            return TracedTimestamps(self._wall, lane.own[1], request.trace_one_in)
        return lane.timestamps

    def _send(self, one: Try) -> None:
        for data, _ in one.exchange.datagrams_to_send():
            self.outgoing.append((one.lane.number, data))

    def _settle(self, one: Try, now: int) -> None:
        """Its exchange has an outcome."""
        exchange, request = one.exchange, one.request
        if exchange.outcome == "timed_out":
            self._fail(one, "silent", now)
            return
        is_direct = request is None or not request.is_search
        took = exchange.ended_at - exchange.sent_at if is_direct and exchange.attempts == 1 else None
        self.health.heard(exchange.broker, took)
        self._release(one)
        if request is not None:
            self._try_ended(one, exchange.outcome, exchange.status, now)

    def _fail(self, one: Try, why: str, now: int) -> None:
        """The broker is not there."""
        broker = one.exchange.broker
        self.health.failed(broker, now, is_ping=one.request is None)
        self._release(one)
        if one.request is not None:
            self._try_ended(one, why, 0, now)
            return
        for waiting in self.ports.in_use():  # those that wait for the broker that its ping did not reach
            if waiting.lane.broker == broker and waiting.exchange.sent_at <= one.exchange.sent_at:
                self._fail_waiting(waiting, why, now)

    def _fail_waiting(self, one: Try, why: str, now: int) -> None:
        """Set a silent broker aside; a request that may ask no other one waits on."""
        request = one.request
        if request is not None and not (request.is_alone or (not request.has_more and len(request.open) == 1)):
            self._release(one)
            self._try_ended(one, why, 0, now)

    def _try_ended(self, one: Try, outcome: str, status: int, now: int) -> None:
        request = one.request
        assert request is not None
        if request.outcome:
            return
        if request.try_ended(one, outcome, status, now):
            self._start_try(request, now)
        self._go_on(request, now)

    def _go_on(self, request: PoolRequest, now: int) -> None:
        """Wait for more, or end it."""
        if not request.outcome:
            self._arm(request)
        elif request not in self.finished:
            self._finish(request, now)

    def _finish(self, request: PoolRequest, now: int) -> None:
        if request.is_search and request.outcome == "answered":
            self.hedging.note(now - request.began)
        self._drop_tries(request)
        self.finished.append(request)

    def _drop_tries(self, request: PoolRequest) -> None:
        for one in request.open:
            self._release(one)
        request.open.clear()

    def _heed(self, request: PoolRequest, now: int) -> None:
        """Its timer has come."""
        if now >= request.deadline:
            for one in request.open:
                request.failed.append((one.exchange.broker, "silent", 0))
            request.give_up()
            self._finish(request, now)
            return
        for one in request.open:
            one.exchange.handle_timer(now)
            self._send(one)
        if request.is_restart_due(now):
            self._start_try(request, now)
        if request.is_hedge_due(now) and self.ports.has_room and self.hedging.take():
            self.hedged += 1
            self._start_try(request, now, is_hedge=True)
        if request.is_check_due(now):
            for one in request.open:
                self._ping(one.exchange.broker, now)
        self._go_on(request, now)

    def _arm(self, request: PoolRequest) -> None:
        request.timer = request.next_timer()
        self._push(request.timer, request)

    def _push(self, due: int, what: PoolRequest | Try) -> None:
        self._number += 1
        heappush(self._timers, (due, self._number, what))

    def _try_again(self, now: int) -> None:
        for broker in self.health.to_try(now):
            self._ping(broker, now)

    def _ping(self, broker: Address, now: int) -> None:
        """Unless one is under way, or all ports are in use."""
        if broker in self._pings or not self.ports.has_room:
            return
        lane = self.ports.take(broker, is_ping=True)
        if lane is None:
            self.health.failed(broker, now, is_ping=True)
            return
        one = self._pings[broker] = self._exchange(lane, questions.ping(), lane.timestamps, PINGED, now)
        self._push(one.exchange.next_timer() or now, one)

    def _heed_ping(self, one: Try, now: int) -> None:
        if one.lane.current is not one:
            return
        one.exchange.handle_timer(now)
        self._send(one)
        if one.exchange.outcome:
            self._settle(one, now)
        else:
            self._push(one.exchange.next_timer() or now, one)

    def _release(self, one: Try) -> None:
        if self.ports.release(one) and one.request is None and self._pings.get(one.lane.broker) is one:
            del self._pings[one.lane.broker]

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if the state contradicts itself."""
        self.health.check_invariants()
        self.hedging.check_invariants()
        self.ports.check_invariants()
        assert ASKS_PER_HEDGE * self.hedged <= self.asked
        for one in self.ports.in_use():
            if one.request:
                assert one in one.request.open and not one.request.outcome
        assert all(one.lane.current is one for one in self._pings.values())
