"""Both tables over the edges that are ready (seed 001, section 6): SUBTABLE, REGTABLE, TABLES.

A SUBTABLE goes with the step that changed it. A REGTABLE goes each ``exchange_s``, with the sum of all that the
neighbour should have, and out of turn: the first at once, others within 50 ms of one wait for its end. Versions are
numbers of messages: a gap, like a wrong sum, asks for the whole table. The channel brings all messages of a session in
order, and the first may have any version: a gap is left by what was refused (LIMIT), and by a sender that errs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from overlay.core.node import MILLISECOND, SECOND
from overlay.systems.federation.broker.edges import Edge
from overlay.systems.federation.broker.forwarding import Forwarding
from overlay.systems.federation.broker.station import Clock, Station
from overlay.systems.federation.tables.destinations import neighbour
from overlay.systems.federation.tables.outlets import Change
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire.messages import Table, Whole
from overlay.systems.federation.wire.values import Entry, Subscription, SubscriptionId

T = TypeVar("T")
PERIODIC = ""
"""The key of the deadline of the periodic exchange; those of single neighbours have their names."""
OUT_OF_TURN_EVERY = 50 * MILLISECOND
MOST_AT_ONCE = 256
"""Rows of a message, before its size is known."""
MOST_ROWS = 1_000_000
"""Of a table from one neighbour, its parts included."""
SUBSCRIPTIONS, REGISTRATIONS = Table.SUBSCRIPTIONS, Table.REGISTRATIONS


class Exchange:
    def __init__(self, station: Station, edges: Mapping[str, Edge], forwarding: Forwarding) -> None:
        self._edges, self._forwarding = edges, forwarding
        self._station, self._peers, self._tables = station, station.peers, station.tables
        settings = station.settings
        self._period = round(settings.exchange_s * SECOND)
        self._is_out_of_turn = settings.out_of_turn
        self._ready: dict[str, Edge] = {}
        self._owing: dict[str, Edge] = {}
        """Edges that are to be told whole tables, or to be sent what was stored."""
        self._must_tell = False
        """Whether neighbours are to be told of registrations with this step."""

    # ---- edges

    def start(self) -> None:
        """The period begins with the first edge, and goes on."""
        if (Clock.EXCHANGE, PERIODIC) not in self._station.timers:
            self._station.set_timer(Clock.EXCHANGE, PERIODIC, self._station.now + self._period)

    def begin(self, edge: Edge) -> None:
        """It is ready: whole tables go, if it owes any, then what was stored."""
        self._ready[edge.broker] = self._owing[edge.broker] = edge
        self._tables.subscriptions.release(neighbour(edge.broker))
        self._must_tell = True

    def end(self, edge: Edge) -> None:
        """It is not ready any more. What changes from now on waits."""
        self._ready.pop(edge.broker, None)
        self._owing.pop(edge.broker, None)
        self._station.cancel(Clock.EXCHANGE, edge.broker)
        edge.must_tell = False
        edge.owes.clear()
        edge.known.clear()
        edge.asked_at.clear()
        edge.answered_at.clear()
        if edge.is_connected:
            self._tables.subscriptions.hold(neighbour(edge.broker))

    def keep_homes(self, brokers: frozenset[str]) -> None:
        """What came over an edge goes with it."""

    def forget(self, edge: Edge) -> None:
        """It is no neighbour any more."""
        self.end(edge)
        self._station.forget_waiting(edge.broker)

    # ---- telling

    def tell(self, change: Change) -> None:
        """One that was collected may come late: then it goes with the whole table."""
        edge = self._edges.get(change.destination.id)
        if edge is None or not edge.is_connected:
            return
        if not edge.is_ready:
            edge.owes.add(SUBSCRIPTIONS)
        elif SUBSCRIPTIONS not in edge.owes:
            self._tell_subscriptions(edge, change.added, change.removed)

    def out_of_turn(self) -> None:
        if self._is_out_of_turn:
            self._must_tell = True

    def settle(self) -> None:
        """At the end of each step, after ``tell``."""
        if self._owing:
            owing, self._owing = self._owing, {}
            for edge in owing.values():
                self._pay(edge)
        if self._must_tell:
            self._must_tell = False
            for edge in self._ready.values():
                if (Clock.EXCHANGE, edge.broker) in self._station.timers:
                    edge.must_tell = True
                else:
                    self._tell_out_of_turn(edge)

    def ring(self, key: str) -> None:
        if key == PERIODIC:
            self._station.set_timer(Clock.EXCHANGE, PERIODIC, self._station.now + self._period)
            for edge in self._ready.values():
                self._tell_registrations(edge)
        elif (edge := self._ready[key]).must_tell:
            edge.must_tell = False
            self._tell_out_of_turn(edge)

    def _tell_out_of_turn(self, edge: Edge) -> None:
        if not self._tables.registrations.is_settled(edge.broker):
            self._tell_registrations(edge)
            self._station.set_timer(Clock.EXCHANGE, edge.broker, self._station.now + OUT_OF_TURN_EVERY)

    def _tell_subscriptions(self, edge: Edge, added: Sequence[Subscription], removed: Sequence[SubscriptionId]) -> None:
        """What is added comes first, also if it needs several messages."""
        is_first = not (edge.told[SUBSCRIPTIONS] or removed)

        def message(added: Sequence[Subscription], removed: Sequence[SubscriptionId]) -> m.SubTable:
            whole = Whole.LAST if is_first else Whole.CHANGES
            return m.SubTable(edge.told[SUBSCRIPTIONS] + 1, whole, tuple(added), tuple(removed))

        if len(added) + len(removed) <= MOST_AT_ONCE and self._send(edge, SUBSCRIPTIONS, message(added, removed)):
            return
        is_first = False
        self._send_rows(edge, SUBSCRIPTIONS, added, lambda rows, _: message(rows, ()))
        self._send_rows(edge, SUBSCRIPTIONS, removed, lambda rows, _: message((), rows))

    def _tell_registrations(self, edge: Edge) -> None:
        """Also of no change: the neighbour compares the sum. Many changes go in several messages, each with the sum
        after it. Those that are too large for one go as a whole table."""
        registrations, is_settled = self._tables.registrations, False
        while not is_settled:
            change = self._tables.registration_change(edge.broker, MOST_AT_ONCE)
            is_settled = registrations.is_settled(edge.broker)
            summary, _ = registrations.sums(edge.broker)
            version = edge.told[REGISTRATIONS] + 1
            message = m.RegTable(version, Whole.CHANGES, change.added, change.removed, summary)
            if not self._send(edge, REGISTRATIONS, message):
                self._send_registrations(edge)
                return

    def _pay(self, edge: Edge) -> None:
        owes, edge.owes = edge.owes, set()
        if REGISTRATIONS in owes:
            self._send_registrations(edge)
        if SUBSCRIPTIONS in owes:
            self._send_subscriptions(edge)
        self._forwarding.flush(edge)

    def _send_subscriptions(self, edge: Edge) -> None:
        def message(rows: Sequence[Subscription], is_last: bool) -> m.SubTable:
            return m.SubTable(edge.told[SUBSCRIPTIONS] + 1, Whole.LAST if is_last else Whole.PART, tuple(rows))

        self._send_rows(edge, SUBSCRIPTIONS, self._tables.whole_subscriptions(edge.broker), message, is_whole=True)
        self._station.forget_waiting(edge.broker)

    def _send_registrations(self, edge: Edge) -> None:
        """Whole, with what was not told yet."""
        registrations = self._tables.registrations
        registrations.difference(edge.broker)
        summary, _ = registrations.sums(edge.broker)

        def message(rows: Sequence[Entry], is_last: bool) -> m.RegTable:
            whole = Whole.LAST if is_last else Whole.PART
            return m.RegTable(edge.told[REGISTRATIONS] + 1, whole, tuple(rows), (), summary)

        self._send_rows(edge, REGISTRATIONS, tuple(registrations.sent(edge.broker)), message, is_whole=True)

    def _send_rows(
        self,
        edge: Edge,
        table: Table,
        rows: Sequence[T],
        message: Callable[[Sequence[T], bool], m.Message],
        *,
        is_whole: bool = False,
    ) -> None:
        """In as many messages as it takes. A row that fits into none is left out, and counted."""
        ahead = [rows[i : i + MOST_AT_ONCE] for i in range(0, len(rows), MOST_AT_ONCE)][::-1]
        if is_whole and not rows:
            ahead = [rows]
        while ahead:
            some = ahead.pop()
            if self._send(edge, table, message(some, not ahead)):
                continue
            if len(some) > 1:
                half = len(some) // 2
                ahead += [some[half:], some[:half]]
            else:
                self._station.counters["rows_too_large"] += len(some)
                if some and is_whole and not ahead:
                    ahead = [some[:0]]

    def _send(self, edge: Edge, table: Table, message: m.Message) -> bool:
        """``False`` if it is too large."""
        data = self._peers.encoded(message)
        if data is None:
            return False
        edge.told[table] += 1
        if self._peers.send_encoded((edge.broker,), type(message), data) and isinstance(message, m.SubTable):
            self._station.counters["subtable_added"] += len(message.added)
            self._station.counters["subtable_removed"] += len(message.removed)
            if self._station.tracer is not None:
                self._station.tracer.told(edge.broker, message.added, self._station.now)
        return True

    # ---- hearing

    def subscriptions(self, edge: Edge, message: m.SubTable) -> None:
        if self._is_too_long(edge, message, SUBSCRIPTIONS):
            return
        self._follow(edge, SUBSCRIPTIONS, message.version)
        message = self._allowed(edge, message)
        self._tables.receive_subscriptions(edge.broker, message)
        if self._station.tracer is not None:
            self._station.tracer.learned(edge.broker, message.added, self._station.arrived, self._station.now)

    def _allowed(self, edge: Edge, message: m.SubTable) -> m.SubTable:
        """Without the subscriptions of another domain to scopes that it may not see, which are refused."""
        may_see = self._tables.registrations.may_see
        allowed = [one for one in message.added if all(may_see(edge.broker, scope) for scope in one.scopes)]
        if len(allowed) == len(message.added):
            return message
        self._peers.refuse(edge.broker, message, m.Code.DENIED, "A subscription has scopes that are not exported.")
        return replace(message, added=tuple(allowed))

    def registrations(self, edge: Edge, message: m.RegTable) -> None:
        if self._is_too_long(edge, message, REGISTRATIONS):
            return
        follows = self._follow(edge, REGISTRATIONS, message.version)
        told = self._names_that_may_go(edge, message)
        self._station.superseded += self._tables.receive_registrations(edge.broker, message)
        if message.whole is Whole.PART:
            return
        registrations = self._tables.registrations
        for name in told:
            if registrations.get(name) is None:
                self._station.learn(name, "regtable")
        if message.added or message.removed or message.whole is Whole.LAST:
            self.out_of_turn()
        if follows and registrations.sums(edge.broker)[1] != message.summary:
            self._station.counters["sums_wrong"] += 1
            self._ask(edge, REGISTRATIONS)

    def _is_too_long(self, edge: Edge, message: m.SubTable | m.RegTable, table: Table) -> bool:
        """Then it is refused."""
        held = self._tables.rows_from(edge.broker)[table - 1]
        if held + len(message.added) <= MOST_ROWS:
            return False
        self._peers.refuse(edge.broker, message, m.Code.LIMIT, f"A neighbour has at most {MOST_ROWS:,} rows here.")
        return True

    def _names_that_may_go(self, edge: Edge, message: m.RegTable) -> list[str]:
        registrations = self._tables.registrations
        if message.whole is Whole.LAST:
            return [entry.advertisement.id for entry in registrations.held_from(edge.broker)]
        return [name for name in message.removed if edge.broker in registrations.next_hops(name)]

    def tables(self, edge: Edge, message: m.Tables) -> None:
        """Whole tables are long, so that they go once a second at most."""
        last, now = edge.answered_at.get(message.wanted), self._station.now
        if last is not None and now < last + min(SECOND, self._period):
            self._peers.refuse(edge.broker, message, m.Code.LIMIT, "Ask for a table once a second at most.")
            return
        edge.answered_at[message.wanted] = now
        edge.owes.add(message.wanted)
        self._owing[edge.broker] = edge

    def _follow(self, edge: Edge, table: Table, version: int) -> bool:
        """Whether it is the next version, or the first. If messages are missing, which may have been parts of a whole
        table, that is asked for."""
        known = edge.known.get(table)
        edge.known[table] = version
        if known is None or version == known + 1:
            return True
        self._station.counters["versions_missed"] += 1
        self._ask(edge, table)
        return False

    def _ask(self, edge: Edge, table: Table) -> None:
        """At most once in a period, so that a table that never fits is not asked for without end."""
        last, now = edge.asked_at.get(table), self._station.now
        if last is None or now >= last + self._period:
            edge.asked_at[table] = now
            self._peers.send(edge.broker, m.Tables(table))

    def check_invariants(self) -> None:
        """Raises ``AssertionError``."""
        assert not self._owing and not self._must_tell, "neighbours are told with the step"
        timers = self._station.timers
        for broker, edge in self._ready.items():
            assert edge.is_ready and edge.is_connected and edge.broker == broker and not edge.owes
            assert not edge.must_tell or (Clock.EXCHANGE, broker) in timers
        assert not self._ready or (Clock.EXCHANGE, PERIODIC) in timers
