"""A mobile node of a workload, from its start to the end of the run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from overlay.core.addresses import Address
from overlay.core.node import NodeEvent
from overlay.core.timers import earliest
from overlay.journal.facts import ClientFact, Connection, Delivery, HandOver
from overlay.systems.contextnet.keys import NO_SECRET, node_secret
from overlay.systems.contextnet.load.draws import context
from overlay.systems.contextnet.load.open import Open, Stream, Waiting
from overlay.systems.contextnet.load.plans import ClientPlan, starts_at
from overlay.systems.contextnet.load.shared import Shared
from overlay.systems.contextnet.names import NODE, answer_id, node_id
from overlay.systems.contextnet.nodes.node import Accepted, Connected, MobileNode, Parted, Received
from overlay.systems.contextnet.records.names import INBOUND as INBOUND_TOPIC
from overlay.systems.contextnet.records.records import Message
from overlay.systems.contextnet.rows import Absence, ContextSet, Held, Placed, Repeated, Shifted, Unanswered, row
from overlay.systems.contextnet.transport.events import Ending
from overlay.systems.contextnet.workload import GRACEFUL, INBOUND, SAME
from overlay.systems.roles import client_name


class Node:
    peer = None
    """It may move to any gateway."""

    def __init__(self, plan: ClientPlan, shared: Shared) -> None:
        self.number, self.shared = plan.number, shared
        workload, draws, windows = shared.workload, shared.draws, shared.windows
        settings, id = shared.settings, node_id(plan.number)
        self.core = MobileNode(
            id,
            NO_SECRET if settings.auth == "none" else node_secret(shared.secret, id),
            settings,
            settings,
            draws.stream(NODE, plan.number),
            wall_offset_ns=shared.wall_offset_ns,
            prefers_last=workload.reconnect_to == SAME,
            budget=shared.budget,
            counters=shared.counters,
        )
        self._starts_at: int | None = windows.start + starts_at(workload, plan.number)
        self._open = Open(NODE, plan.number, windows, shared.tally)
        due = draws.due(INBOUND, plan.number) if workload.is_inbound else iter(())
        self._due = Stream(due, windows.measuring)
        instants = (instant for outage in draws.outages(plan.number) for instant in outage)
        self._outages = Stream(instants, windows.measuring)
        """By turns, when it goes off and when it returns."""
        self._moves = Stream(draws.moves(plan.number), windows.measuring)
        self._changes = Stream(draws.changes(plan.number), windows.measuring)
        self._values, self._places = draws.values(plan.number), draws.places(plan.number)
        self._is_untold = False
        """Whether there was no room for its newest context, which is told as soon as there is."""
        self._off_since = 0
        self._received: set[bytes] = set()
        """Ids of all messages that were handed over."""
        self._came: dict[bytes, int] = {}
        """How often each message to a group came."""
        self._lane = 0
        self._closed: list[int] = []
        self._connection: tuple[int, int] | None = None
        """The gateway's index, and since when (µs)."""
        self._left: tuple[int, int] | None = None
        """The same of the gateway that it left last, and when."""
        self._facts: list[ClientFact] = []
        self._is_over = False

    @property
    def identity(self) -> tuple[str, int]:
        return NODE, self.number

    @property
    def is_finished(self) -> bool:
        return self._is_over

    @property
    def is_settled(self) -> bool:
        """Whether nothing of it is due or waits for an answer, and it is there."""
        return not len(self._open) and self._due.next_due is None and self.core.is_on

    # ---- for drivers

    def receive_datagram(self, lane: int, data: bytes, source: Address, now: int) -> bool:
        if lane == self._lane:
            self.core.receive_datagrams(((data, source),), now)
            self._collect(now)
        return True

    def handle_timer(self, now: int) -> None:
        if self._starts_at is not None and self._starts_at <= now:
            self._starts_at = None
            self._begin(now)
        self._come_and_go(now)
        self.core.handle_timer(now)
        while (due := self._due.next_due) is not None and due <= now:
            self._send(*next(self._due), now)
        self._collect(now)

    def next_timer(self) -> int | None:
        return earliest(
            self._starts_at,
            self.core.next_timer(),
            self._due.next_due,
            self._outages.next_due,
            self._moves.next_due,
            self._changes.next_due,
        )

    def datagrams_to_send(self) -> Sequence[tuple[int, bytes, Address]]:
        return [(self._lane, data, to) for data, to in self.core.datagrams_to_send()]

    def lanes_to_close(self) -> Sequence[int]:
        closed, self._closed = self._closed, []
        return closed

    def facts(self) -> Sequence[ClientFact]:
        facts, self._facts = self._facts, []
        return [*facts, *self._open.facts()]

    def abandon(self, now: int) -> None:
        if not self._is_over:
            self._is_over = True
            self._due.stop()
            self._outages.stop()
            self._open.abandon(now)
            for id in self.core.waiting():
                self.report(Held(id.hex()), now)
            if self._off_since:
                self._end_absence(now)
            self._end_connection("", now)

    def set_wall_clock(self, offset_ns: int) -> None:
        self.core.wall_offset_ns = offset_ns

    # ---- what it does

    def _begin(self, now: int) -> None:
        gateways, home = list(self.shared.gateways), self.shared.workload.home_of(self.number)
        self.core.context = self._next_context(now)
        self.core.turn_on(now, tuple(gateways[home:] + gateways[:home]))
        if self.shared.workload.definers:  # which make groups of it before its first message
            self._tell_context(now)

    def _come_and_go(self, now: int) -> None:
        while (due := self._outages.next_due) is not None and due <= now:
            next(self._outages)
            if self.core.is_on:
                self.core.turn_off(now, is_graceful=self.shared.workload.disconnect == GRACEFUL)
                self._off_since = now
            else:
                self._end_absence(now)
                self.core.turn_on(now)
        while (due := self._moves.next_due) is not None and due <= now:
            next(self._moves)
            self._closed.append(self._lane)
            self._lane += 1
            self.report(Shifted(self.number, self._us(now)), now)
        while (due := self._changes.next_due) is not None and due <= now:
            next(self._changes)
            self.core.context = self._next_context(now)
            self._tell_context(now)

    def _tell_context(self, now: int) -> None:
        self._is_untold = not self.core.tell_context(self.core.context, now)

    def _next_context(self, now: int) -> bytes:
        values, workload = next(self._values), self.shared.workload
        place = next(self._places, None)
        if place is not None:
            values[0] = self.shared.draws.region(place)
            self.report(Placed(self.number, *place, self._us(now)), now)
        if values:
            self.report(ContextSet(self.number, values, self._us(now)), now)
        return context(values, workload.context_bytes, place)

    def _send(self, order: int, intended: int, now: int) -> None:
        payload = bytes(self.shared.workload.payload_bytes)
        message = self.core.compose(INBOUND_TOPIC, payload, now, reply_to=self.core.name)
        self._open.sent(message.id, Waiting(self.number, order, intended, now, self._server))
        if not self.core.send(message, now):
            self._open.refused(message.id, now)
        self._traced("sent", message.id, now)

    def _answer(self, message: Message, now: int) -> None:
        """At once."""
        payload = bytes(self.shared.workload.payload_bytes)
        answer = self.core.compose(message.reply_to, payload, now, id=answer_id(message.id))
        if self.core.send(answer, now):
            self._traced("sent", answer.id, now)
        else:
            self.report(Unanswered(message.id.hex()), now)

    # ---- what happens to it

    def _collect(self, now: int) -> None:
        while events := self.core.events():
            for event in events:
                self._note(event, now)
        if self._is_untold:
            self._tell_context(now)

    def _note(self, event: NodeEvent, now: int) -> None:
        if isinstance(event, Received):
            self._receive(event.message, now)
        elif isinstance(event, Accepted):
            self._traced("accepted", event.id, now)
        elif isinstance(event, Connected):
            self._connected(event, now)
        elif isinstance(event, Parted):
            self._end_connection("" if event.reason == Ending.DONE else event.reason, now)

    def _receive(self, message: Message, now: int) -> None:
        if message.reply_to or message.destination == self.core.name:
            self._traced("received", message.id, now)
        if message.reply_to:
            if message.id in self._received:
                self.report(Repeated(message.id.hex(), self._us(now)), now)
            self._received.add(message.id)
            self._answer(message, now)
        elif message.destination == self.core.name:
            self._open.answered(message.id, now)
        else:
            self._cast(message, now)

    def _cast(self, message: Message, now: int) -> None:
        copy = self._came[message.id] = self._came.get(message.id, 0) + 1
        published = message.created_at * 1_000 - self.shared.wall_offset_ns
        phase, times = self.shared.phase(published), (self._us(published), self._us(now))
        self._facts.append(Delivery(NODE, self.number, self._server, phase, message.id.hex(), *times, copy))

    def _connected(self, event: Connected, now: int) -> None:
        server = self.shared.index_of.get(event.gateway, -1)
        if event.was_ordered and self._left is not None:
            times = self._left[1], self._us(now)
            fact = HandOver(NODE, self.number, self._left[0], server, self.shared.phase(now), "done", *times, -1)
            self._facts.append(fact)
        self._connection = server, self._us(now)

    def _end_connection(self, reason: str, now: int) -> None:
        self._left = None
        if self._connection is not None:
            server, since = self._connection
            phase = "measuring" if since >= self._us(self.shared.windows.measuring) else "warming"
            outcome, times = "lost" if reason else "closed", (since, since, self._us(now))
            self._facts.append(Connection(NODE, self.number, server, phase, outcome, *times, reason))
            self._left, self._connection = (server, self._us(now)), None

    def _end_absence(self, now: int) -> None:
        self.report(Absence(self.number, self._us(self._off_since), self._us(now)), now)
        self._off_since = 0

    def _traced(self, step: str, id: bytes, now: int) -> None:
        """A step of one of its messages."""
        place, offset = client_name(self.identity), self.core.wall_offset_ns
        self._facts += self.shared.traced(step, id, self.core.id, place, now, offset)

    def report(self, value: Any, now: int) -> None:
        """A row."""
        self._facts.append(row(self._us(now), value))

    @property
    def _server(self) -> int:
        """The index of its gateway; that of its first one before it has any."""
        if self._connection is not None:
            return self._connection[0]
        return self.shared.workload.home_of(self.number) if self._left is None else self._left[0]

    def _us(self, now: int) -> int:
        return self.shared.us(now)
