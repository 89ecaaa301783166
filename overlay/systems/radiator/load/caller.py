"""A client of a workload: registers, calls in an open or closed loop, receives, leaves and returns, and has faults.

Its life in this module is that of a process; the middleware has the protocol. A client that crashes keeps its port
and is silent until it returns as a new instance.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from overlay.core.addresses import Address
from overlay.core.chance import Stream, derive_seed
from overlay.core.node import SECOND
from overlay.core.timers import earliest
from overlay.faults.churn import CRASH, LEAVE, Change
from overlay.journal.facts import ClientFact, Delivery, Row, Sample
from overlay.systems.radiator.chains.hop import Delivery as Received
from overlay.systems.radiator.context import parse_body
from overlay.systems.radiator.load.impairments import Impairments
from overlay.systems.radiator.load.population import client_id, client_number
from overlay.systems.radiator.load.shared import Calling, Shared
from overlay.systems.radiator.middleware.calls import Result
from overlay.systems.radiator.middleware.membership import State
from overlay.systems.radiator.middleware.middleware import Middleware, RegistrationEnded
from overlay.systems.radiator.names import call_name, propagation_name
from overlay.systems.radiator.tracing import repeated
from overlay.systems.radiator.wire.messages import Push, Registration

ROLE = "client"
RETRY = SECOND
"""Pause after a refused registration: an earlier life of this client may still be in the table."""
COUNTED = ("duplicates_suppressed", "client_to_client_bytes")
READ = lru_cache(maxsize=16)(parse_body)
"""The clients of one process get the same bodies, one after the other."""
CALLING = (State.REGISTERING, State.REGISTERED, State.OUTSIDE)
OUTCOMES = {Result.ACCEPTED: "answered", Result.NO_ANSWER: "timed_out", Result.OPEN: "timed_out"}
"""All others are refused."""


class Caller:
    """Client ``number``; ``changes`` are its departures and returns, seconds from the start of the workload."""

    peer = None
    """It receives from the server and from other clients."""

    def __init__(self, number: int, server: Address, changes: Sequence[Change], shared: Shared) -> None:
        self.number, self._server, self._shared = number, server, shared
        self._middleware: Middleware | None = None
        self._lives = 0
        self._instance = 0
        self._turn = 0
        self._open: list[Calling] = []
        self._facts: list[ClientFact] = []
        self._impairments = Impairments(Stream(derive_seed(shared.seed, "impairments", number)), server, number)
        self._counted = Counter[str]()
        """What of the middleware's counts is in the tally."""
        self._away = 0
        """Churn and faults that keep it down."""
        start = shared.windows.start
        first = start + round(number * shared.workload.stagger_ms * 1_000_000)
        self._begins_at: int | None = first
        """When it registers, for the first time or again."""
        self._changes = deque((start + round(one.at_s * SECOND), one.what) for one in changes)
        self._calls_at = self._first_call()
        self._now = 0
        self._is_over = False

    @property
    def identity(self) -> tuple[str, int]:
        return ROLE, self.number

    @property
    def is_finished(self) -> bool:
        """Not before the end of draining: it cannot know whether the server retains messages for it."""
        return self._is_over

    @property
    def is_idle(self) -> bool:
        """Whether it has no call open and forwards nothing."""
        is_quiet = not self._open and self._impairments.next_timer() is None
        return is_quiet and (self._middleware is None or self._middleware.hop.is_idle)

    def _first_call(self) -> int | None:
        shared = self._shared
        if shared.workload.loop == "open":
            return self._planned(0)
        share = self.number / shared.workload.clients
        return self._within(shared.windows.measuring + round(share * shared.workload.think_s * SECOND))

    def _within(self, at: int) -> int | None:
        """``None`` for calls after the end of measuring."""
        return at if at < self._shared.windows.end else None

    def _planned(self, turn: int) -> int | None:
        at = self._shared.turns.due(self.number, turn)
        return None if at is None else self._shared.windows.measuring + at

    # ---- for drivers

    def receive_datagram(self, lane: int, data: bytes, source: Address, now: int) -> bool:
        if self._middleware is not None and self._impairments.receive(data, source, now):
            self._hear(data, source, now)
        return True

    def handle_timer(self, now: int) -> None:
        self._now = now
        while self._changes and self._changes[0][0] <= now:
            self._follow(self._changes.popleft()[1], now)
        if self._begins_at is not None and self._begins_at <= now:
            self._begins_at = None
            if not self._away:
                self._begin(now)
        for data, source in self._impairments.arriving.due(now):
            self._hear(data, source, now)
        while self._calls_at is not None and self._calls_at <= now:
            self._call(self._calls_at, now)
        middleware = self._middleware
        timer = None if middleware is None else middleware.next_timer()
        if middleware is not None and timer is not None and timer <= now:
            middleware.handle_timer(now)
        self._settle(now)

    def next_timer(self) -> int | None:
        own = None if self._middleware is None else self._middleware.next_timer()
        change = self._changes[0][0] if self._changes else None
        return earliest(own, change, self._begins_at, self._calls_at, self._impairments.next_timer())

    def datagrams_to_send(self) -> Sequence[tuple[int, bytes, Address]]:
        if self._middleware is None:
            return ()
        outgoing = self._middleware.datagrams_to_send()
        if outgoing:
            self._count(self._middleware.hop.counts)
        if self._impairments.crashes_at_push(outgoing):
            outgoing = self._impairments.acknowledgements(outgoing)
            self._crash(self._now)
            self._away += 1
        return [(0, data, to) for data, to in self._impairments.sent(outgoing, self._now)]

    def lanes_to_close(self) -> Sequence[int]:
        return ()

    def facts(self) -> Sequence[ClientFact]:
        facts, self._facts = self._facts, []
        return facts

    def abandon(self, now: int) -> None:
        for calling in self._open:
            self._report(calling, now)
        self._open.clear()
        self._is_over = True

    def fault(self, document: Mapping[str, Any], begins: bool, now: int) -> None:
        """A fault of ``faults.FAULTS`` begins or ends."""
        if document["what"] == "crash":
            if begins:
                self._crash(now)
                self._away += 1
            else:
                self._come_back(now)
        elif document["what"] == "restart_client":
            self._crash(now)
            self._begins_at = None if self._away else now
        elif document["what"] == "crash_at_push" and not begins and self._impairments.has_crashed:
            self._impairments.change(document, begins)
            self._come_back(now)
        else:
            self._impairments.change(document, begins)

    def _count(self, counts: Counter[str]) -> None:
        """Add what the middleware has counted since the last time."""
        totals = self._shared.tally.counters
        for name in COUNTED:
            totals[name] = totals.get(name, 0) + counts[name] - self._counted[name]
            self._counted[name] = counts[name]

    # ---- its life

    def _follow(self, what: str, now: int) -> None:
        if what == CRASH:
            self._crash(now)
            self._away += 1
        elif what == LEAVE:
            if self._middleware is not None and self._middleware.state in (*CALLING, State.REFUSED):
                self._middleware.unregister_client(client_id(self.number), now)
            self._away += 1
        else:
            self._come_back(now)

    def _come_back(self, now: int) -> None:
        self._away -= 1
        if not self._away:
            self._begins_at = now

    def _begin(self, now: int) -> None:
        """A new instance registers, or one that was refused tries again."""
        shared, number = self._shared, self.number
        middleware = self._middleware
        if middleware is None or middleware.state is not State.REFUSED:
            self._crash(now)
            self._lives += 1
            self._instance = derive_seed(shared.seed, "instance", number, self._lives)
            is_patient = shared.workload.loop == "closed"
            middleware = self._middleware = Middleware(
                shared.settings, self._instance, read=READ, is_patient=is_patient
            )
            middleware.setup(self._server)
            middleware.hop.hears = lambda id: self._impairments.hears(client_number(id))
            middleware.hop.on_repeat = self._note_repeat
            self._counted = Counter()
        attributes, is_p2p = shared.population.attributes(number), shared.population.is_p2p(number)
        middleware.register_client(client_id(number), self._deliver, attributes, is_p2p=is_p2p, now=now)

    def _crash(self, now: int) -> None:
        """Without any message. Its open calls get no answer."""
        self._middleware = None
        self._impairments.clear()
        self._end_calls(self._open, now)

    # ---- calls

    def _call(self, intended: int, now: int) -> None:
        shared, middleware = self._shared, self._middleware
        turn, self._turn = self._turn, self._turn + 1
        self._calls_at = self._planned(self._turn) if shared.workload.loop == "open" else None
        shared.tally.started(now - intended)
        if middleware is None or middleware.state not in CALLING:
            self._sample("", "refused", 0, intended, now, now)
            self._call_again(now)
            return
        called_at = intended + shared.wall_offset
        body = shared.contents.message(self.number, turn, called_at // 1_000_000)
        call = middleware.propagate_context(body, called_at, now)
        self._open.append(Calling(call, self._instance, intended, now))

    def _settle(self, now: int) -> None:
        """Report the calls that have ended."""
        middleware = self._middleware
        for event in () if middleware is None else middleware.events():
            if isinstance(event, RegistrationEnded) and event.code not in (-1, Registration.OK) and not self._away:
                self._begins_at = now + RETRY
        if self._open:
            self._end_calls([one for one in self._open if one.call.result is not Result.OPEN], now)

    def _end_calls(self, ended: Sequence[Calling], now: int) -> None:
        self._open = [one for one in self._open if one not in ended]
        for calling in ended:
            self._report(calling, calling.call.ended_at or now)
            self._call_again(calling.call.ended_at or now)

    def _call_again(self, ended: int) -> None:
        """In a closed loop."""
        if self._shared.workload.loop == "closed":
            self._calls_at = self._within(ended + round(self._shared.workload.think_s * SECOND))

    def _report(self, calling: Calling, ended: int) -> None:
        call = calling.call
        name = call_name(calling.instance, call.request.req)
        self._sample(name, OUTCOMES.get(call.result, "refused"), call.tries, calling.intended, calling.sent, ended)

    def _sample(self, name: str, outcome: str, attempts: int, intended: int, sent: int, ended: int) -> None:
        windows = self._shared.windows
        zero = windows.zero
        times = (intended - zero) // 1000, (sent - zero) // 1000, (ended - zero) // 1000
        self._shared.tally.ended(outcome, attempts)
        self._facts.append(Sample(ROLE, self.number, 0, "measuring", outcome, 0, attempts, *times, name, 0))

    def _note_repeat(self, push: Push) -> None:
        if self._shared.repeats.allow(self._now):
            row = repeated(push)
            self._facts.append(Row("", (self._now - self._shared.windows.zero) // 1000, "steps", row))

    # ---- deliveries

    def _hear(self, data: bytes, source: Address, now: int) -> None:
        self._now = now
        middleware = self._middleware
        if middleware is not None:
            middleware.receive_datagrams(((data, source),), now)
            self._settle(now)

    def _deliver(self, context: Any, received: Received) -> None:
        """Once for each propagation, whose originals only the server knows: the publication is the propagation, and
        its time that of the oldest original."""
        if context is not received.contexts[0]:
            return
        shared, windows = self._shared, self._shared.windows
        published = min(one.start for one in received.contexts) * 1_000_000 - shared.wall_offset
        server = 0 if received.source == self._server else -1
        name = propagation_name(received.epoch, received.propagation)
        times = (published - windows.zero) // 1000, (self._now - windows.zero) // 1000
        self._facts.append(Delivery(ROLE, self.number, server, "measuring", name, *times, 1))
