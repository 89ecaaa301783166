"""The context broker as a pure object: datagrams and time as input, datagrams and events as output.

This module only composes the parts. ``fast`` reads the most common messages, ``wire`` all others. Messages are handled
by ``storing`` (2, 35, 37), ``searching`` (3, 4, 6), ``joining`` (5, 7, 8) and ``pings`` (0, 9), or by ``structured``
(2, 3, 26 to 31). All of them send through one ``Station``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, Protocol

from overlay.core.addresses import Address
from overlay.core.chance import Chances
from overlay.core.errors import WireError
from overlay.core.node import MILLISECOND, NEVER, NodeEvent
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.broker.departures import Departures
from overlay.systems.context_broker.broker.directory import LOAD, Directory
from overlay.systems.context_broker.broker.giving import Giving
from overlay.systems.context_broker.broker.hops import AcknowledgedDelivery
from overlay.systems.context_broker.broker.joining import FAREWELL_GAP, FAREWELLS, Joining
from overlay.systems.context_broker.broker.members import Members
from overlay.systems.context_broker.broker.membership import MEMBERSHIPS
from overlay.systems.context_broker.broker.mutual import Mutual
from overlay.systems.context_broker.broker.neighbour_search import NeighbourSearch
from overlay.systems.context_broker.broker.pings import Monitor
from overlay.systems.context_broker.broker.searching import Searching
from overlay.systems.context_broker.broker.station import Station
from overlay.systems.context_broker.broker.storing import Storing
from overlay.systems.context_broker.broker.structured import HANDLERS as STRUCTURED
from overlay.systems.context_broker.broker.structured import Structured
from overlay.systems.context_broker.broker.suspicion import Suspecting
from overlay.systems.context_broker.broker.tracing import Step
from overlay.systems.context_broker.fast.lanes import Lane
from overlay.systems.context_broker.fast.path import FastPath
from overlay.systems.context_broker.wire.codec import code_of, parse, timestamp_of
from overlay.systems.context_broker.wire.discovery_messages import BrokersRequest, BrokersResponse
from overlay.systems.context_broker.wire.extensions import (
    BrokerGone,
    HopAck,
    HopData,
    IndirectPing,
    IndirectPingResponse,
    Lookahead,
    QuietRequest,
    ReplicaConfirm,
    ReplicaRefresh,
)
from overlay.systems.context_broker.wire.feed_messages import FeedRequest, FeedResponse, Withdraw
from overlay.systems.context_broker.wire.messages import (
    Ack,
    BrokerJoining,
    BrokerLeaving,
    ContextRequest,
    ContextResponse,
    ContextUpdateAdvertisement,
    Key,
    Nack,
    NeighborsRequest,
    NeighborsResponse,
    Ping,
    PingResponse,
    StartNeighborsMonitoring,
    StatsRequest,
    StatsResponse,
    Status,
)
from overlay.systems.context_broker.wire.table import BY_CLASS, CODES, NEVER_ANSWERED, OPERATIONS, UNKNOWN, AnyMessage

UNKNOWN_TIMER = -1
"""The next timer must be computed again, because it may have changed."""

Handler = Callable[[Any, Address, int], bool | None]
"""Called with a message, its source and the time. Returns ``False`` for an answer that was not expected."""


class Timed(Protocol):
    """A part with a timer."""

    def handle_timer(self, now: int) -> None: ...
    def next_timer(self) -> int | None: ...


class Broker:
    """A ``Node``. ``address`` is its address for others; ``wall_offset_ns`` is Unix nanoseconds minus ``now``.

    Without ``is_fast`` every datagram is parsed, with the same results; the structured arm has no fast paths.
    """

    def __init__(
        self,
        config: BrokerConfig,
        address: Address,
        chances: Chances,
        wall_offset_ns: int = 0,
        *,
        is_fast: bool = True,
    ) -> None:
        self._started: int | None = None
        """The time of the first input."""
        self._next_timer = UNKNOWN_TIMER
        """The next timer; never late, but possibly early if its reason has been settled."""
        self._members = Members(address, config.neighbour_capacity)
        self._awaited: set[Address] = set()
        station = self._station = Station(config, address, chances, wall_offset_ns, self._is_known)
        self._joining = Joining(station, self._members, self._awaited)
        preference = MEMBERSHIPS[config.membership]
        self._neighbour_search = NeighbourSearch(station, self._members, self._joining, preference)
        self._suspecting = Suspecting(station, self._members)
        self._monitor = Monitor(station, self._members, self._suspecting, self._note_crash)
        self._storing = Storing(station)
        self._searching = Searching(station, self._members, self._joining, self._storing)
        self._departures = Departures(station, self._members, self._monitor, self._searching, self._neighbour_search)
        is_structured = config.arm == "structured"
        self._fast: FastPath | None = None
        if is_fast and not is_structured:
            parts = self._members, self._joining, self._searching, self._storing
            self._fast = FastPath(station, *parts, self._note, self._receive)
        self._take = self._receive_each if self._fast is None else self._fast.take
        self._lanes: Mapping[bytes, Lane] = {} if self._fast is None else self._fast.lanes
        self._trusts = station.open_network.trusted_hosts
        self._ends_leases = config.replica_refresh
        self._timed: list[Timed] = [self._searching, self._storing, self._joining]
        self._timed += [self._neighbour_search, self._monitor, self._departures]
        self._standings = None if is_structured else self._searching.standings
        if self._standings is not None:
            self._timed.append(self._standings)
        self._mutual: Mutual | None = None
        if self._neighbour_search.is_on:
            self._mutual = Mutual(station, self._members, self._joining, self._monitor, self._neighbour_search)
            self._timed.append(self._mutual)
        self._structured: Structured | None = None
        if is_structured:
            self._structured = Structured(station, self._members, self._joining, self._storing)
            self._timed.append(self._structured)  # last, because it depends on changes of neighbours by the others
        self._directory: Directory | None = None
        self._handlers = _handlers(config)

    # ---- the node

    @property
    def address(self) -> Address:
        return self._station.address

    @property
    def config(self) -> BrokerConfig:
        return self._station.config

    @property
    def neighbours(self) -> tuple[Address, ...]:
        return self._members.neighbours

    @property
    def knows(self) -> Callable[[Address], bool]:
        """Whether a sender is trusted, or a former, current or expected neighbour, and not a stranger."""
        return self._station.knows

    def set_wall_clock(self, offset_ns: int) -> None:
        """Unix nanoseconds minus ``now``. A clock step affects validity and timestamps, but no time-outs."""
        self._next_timer = UNKNOWN_TIMER
        self._station.wall_offset_ns = offset_ns

    def receive_datagram(self, data: bytes, source: Address, now: int) -> None:
        self.receive_datagrams(((data, source),), now)

    def receive_datagrams(self, datagrams: Sequence[tuple[bytes, Address]], now: int) -> None:
        if self._started is None:
            self._started = now
        if self._ends_leases:  # before answering anything, even if other timers are due
            self._storing.end_leases(now)
        self._take(datagrams, now)

    def _receive_each(self, datagrams: Sequence[tuple[bytes, Address]], now: int) -> None:
        for data, source in datagrams:
            self._receive(data, source, now)

    def _receive(self, data: bytes, source: Address, now: int) -> None:
        """Process a datagram that was not a table hit."""
        station = self._station
        if source[1] == 0:  # only forged datagrams come from port 0, and they cannot be answered
            station.counters["rejected_unreadable"] += 1
            return
        if not self._trusts(source[0]):
            station.open_network.ledger.receive(source, len(data), now)
        lane = self._lanes.get(data[:2])
        self._note(None if lane is None else lane(data, source, now), data, source, now)

    def _note(self, due: int | None, data: bytes, source: Address, now: int) -> None:
        """Use the result of a fast path: the time of a new timer, or that the datagram must be parsed."""
        if due is None:
            self._parse(data, source, now)
        elif due < self._next_timer:
            self._next_timer = due

    def _parse(self, data: bytes, source: Address, now: int) -> None:
        self._next_timer = UNKNOWN_TIMER
        try:
            message = parse(data)
        except WireError:
            self._refuse_unreadable(data, source, now)
            return
        if type(message) not in self._handlers:  # an extension that is switched off
            self._refuse_unreadable(data, source, now)
            return
        self._station.received[CODES[type(message)]] += 1
        self._handle(message, source, now)

    def handle_timer(self, now: int) -> None:
        self._next_timer = UNKNOWN_TIMER
        for part in self._timed:
            part.handle_timer(now)

    def next_timer(self) -> int | None:
        if self._next_timer == UNKNOWN_TIMER:
            self._next_timer = self._find_next_timer()
        return None if self._next_timer == NEVER else self._next_timer

    def _find_next_timer(self) -> int:
        return min((time for part in self._timed if (time := part.next_timer()) is not None), default=NEVER)

    def datagrams_to_send(self) -> list[tuple[bytes, Address]]:
        station = self._station
        outgoing, station.outgoing = station.outgoing, []
        return outgoing

    def events(self) -> list[NodeEvent]:
        return self._station.drain_events()

    def traces(self) -> list[Step]:
        """Steps of traced queries since the last call."""
        return self._station.tracer.drain()

    def statistics(self, now: int) -> dict[str, int]:
        """Counters since the start and gauges; the fields of a StatsResponse. ``uptime`` in milliseconds."""
        if self._started is None:
            self._started = now
        table = self._storing.table
        table.expire(self._station.wall_ms(now))
        self._next_timer = UNKNOWN_TIMER
        counters = self.counters()
        return {
            "entries": table.entries - table.withdrawn,
            "withdrawn": table.withdrawn,
            "bytes": table.bytes,
            "neighbours": len(self._members.neighbours),
            "neighbours_dropped": len(self._members.dropped),
            "neighbours_suspected": len(self._members.suspects),
            "pending": self._searching.waiting + (0 if self._structured is None else len(self._structured)),
            "contacts": 0 if self._structured is None else len(self._structured.contacts),
            "feed_waiting": 0 if self._storing.feeding is None else len(self._storing.feeding),
            "pending_expired": self._searching.pending.expired,
            "uptime": (now - self._started) // MILLISECOND,
            "expired": table.expired,
            "evicted": table.evicted,
            "trace_lost": self._station.tracer.lost,
            "rejected": sum(count for name, count in self._station.counters.items() if name.startswith("rejected_")),
            **counters,
        }

    def counters(self) -> dict[str, int]:
        """The cumulative counters: ``in_`` and ``out_`` by code, and ``station.COUNTERS``.

        Each datagram received is counted as ``rejected_unreadable`` or under one code.
        """
        counters = self._station.counted()
        if self._fast is not None:
            self._fast.add_to(counters)
        return counters

    def held_keys(self, now: int) -> dict[Key, bool]:
        """The valid keys in its table, and whether each came from its provider and is not a replica."""
        return self._storing.table.held_keys(self._station.wall_ms(now))

    @property
    def compared(self) -> tuple[int, int]:
        """The number of entries scanned by a linear table; see ``Table.compared``."""
        return self._storing.table.compared

    def spare_scans(self) -> None:
        """For simulations, whose model has the time of scans; see ``Table.spare_scans``. Call it before the first
        input."""
        self._storing.table.spare_scans()

    def leave(self, now: int) -> int:
        """The effect of a controller's BrokerLeaving, for a driver whose process must end.

        Returns how many nanoseconds its repetitions take.
        """
        repeats_ns = FAREWELLS * FAREWELL_GAP if self.neighbours else 0
        self._next_timer = UNKNOWN_TIMER
        self._neighbour_search.stop(now)
        self._joining.leave(self._station.wall_ms(now), now)
        return repeats_ns

    def hand_over(self, now: int) -> None:
        """Begin to give the table's entries to the neighbours, before ``leave``. The structured arm does so by itself
        when it leaves."""
        if self._structured is not None or self._storing.giving is not None:
            return
        self._next_timer = UNKNOWN_TIMER
        giving = self._storing.giving = Giving(self._station, self.neighbours)
        self._timed.append(giving)
        for entry in list(self._storing.table):
            giving.note(entry, now)

    @property
    def to_give(self) -> tuple[int, int, int]:
        """How many entries a broker that leaves still has to give, has given, and has lost."""
        if self._structured is not None:
            return self._structured.to_give
        giving = self._storing.giving
        return (0, 0, 0) if giving is None else (len(giving), giving.given, giving.lost)

    def _handle(self, message: AnyMessage, source: Address, now: int) -> None:
        """Pass a message to its part, and count unexpected answers."""
        if self._handlers[type(message)](self)(message, source, now) is False:
            self._station.counters["rejected_stray"] += 1

    # ---- commands and requests

    def _start_monitoring(self, message: StartNeighborsMonitoring, source: Address, now: int) -> None:
        if self._may_command(message, source, now):
            self._station.ack(Status.REQ_RECEIVED, OPERATIONS[0], source, now)
            self._monitor.start(now)

    def _leave(self, message: BrokerLeaving, source: Address, now: int) -> None:
        if message.passed_on:
            if self._joining.accept_leave(message, source, now):
                self._departures.note_leave(source, now)
            else:
                self._station.counters["rejected_command"] += 1
        elif self._may_command(message, source, now):
            self._neighbour_search.stop(now)
            self._joining.order_leave(message, source, now)

    def _join(self, message: BrokerJoining, source: Address, now: int) -> None:
        if message.passed_on:
            if self._joining.accept_join(message, source, now):
                self._searching.delivery.meet(source)
                self._neighbour_search.review(now)
            else:
                self._station.counters["rejected_command"] += 1
        elif self._may_command(message, source, now):
            order = self._neighbour_search.order if self._neighbour_search.is_on else self._joining.order_join
            order(message, source, now)

    def _answer_ping(self, message: Ping, source: Address, now: int) -> None:
        self._station.send_message(PingResponse(self._station.wall_ms(now), self.address), source, now)

    def _tell_neighbours(self, message: NeighborsRequest, source: Address, now: int) -> None:
        if self._mutual is not None:
            self._mutual.handle_question(source, now)
        answer = NeighborsResponse(self._station.wall_ms(now), self._members.neighbours)
        self._station.send_message(answer, source, now)

    def _tell_statistics(self, message: StatsRequest, source: Address, now: int) -> None:
        # Calls the class's method: a recorder would record the call as one of the driver.
        answer = StatsResponse(self._station.wall_ms(now), Broker.statistics(self, now))
        self._station.send_message(answer, source, now)

    def _tell_brokers(self, request: BrokersRequest, source: Address, now: int) -> None:
        """One that leaves or has left its network takes no clients."""
        if self._joining.has_left or self._storing.giving is not None:
            self._station.nack(Status.I_ERROR, OPERATIONS[38], request.timestamp, source, now)
            return
        if self._directory is None:
            assert self._started is not None
            self._directory = Directory(self._station, self._members, self._load, self._started)
        self._directory.handle_request(request, source, now)

    def _load(self) -> int:
        counters = Broker.counters(self)  # the class's method, as above
        return sum(counters[name] for name in LOAD)

    def _tell_changes(self, request: FeedRequest, source: Address, now: int) -> None:
        """Answers are much longer than requests, so strangers are refused."""
        station = self._station
        if station.open_network.trusts(source):
            assert self._started is not None
            self._storing.tell_changes(request, source, station.wall_ms(self._started), now)
            return
        station.counters["rejected_command"] += 1
        self._refuse(OPERATIONS[35], request.timestamp, source, now)

    def _accept_ping_response(self, answer: PingResponse, source: Address, now: int) -> bool:
        """One answer may be for several parts."""
        helped = self._suspecting.accept_ping_response(source, now)
        found = self._neighbour_search.accept_ping_response(source, now)
        return self._monitor.accept_ping_response(source, now) or helped or found

    def _accept_neighbours(self, answer: NeighborsResponse, source: Address, now: int) -> bool:
        """One answer may be for both parts."""
        awaited = self._mutual is not None and self._mutual.accept_neighbours(answer, source, now)
        return self._neighbour_search.accept_neighbours(answer, source, now) or awaited

    def _accept_statistics(self, answer: StatsResponse, source: Address, now: int) -> bool:
        return self._standings is not None and self._standings.accept(answer, source)

    def _note_crash(self, address: Address, now: int) -> None:
        self._departures.note_crash(address, now)

    def _accept_nack(self, nack: Nack, source: Address, now: int) -> bool:
        if self._structured is not None and self._structured.accept_nack(nack, source, now):
            return True
        giving = self._storing.giving
        if giving is not None and giving.accept(source, nack.operation, nack.status, now):
            return True
        return self._searching.handle_nack(nack, source, now)

    def _accept_ack(self, ack: Ack, source: Address, now: int) -> bool:
        giving = self._storing.giving
        if giving is not None and giving.accept(source, ack.operation, ack.status, now):
            return True
        if not self._joining.accept_ack(ack, source, now):
            return False
        self._searching.delivery.meet(source)
        return True

    def _unwrap(self, wrapped: HopData, source: Address, now: int) -> None:
        """Process a wrapped message as if it had arrived unwrapped. Strangers are refused, as for an unknown code."""
        if not self._station.knows(source):
            self._station.counters["rejected_wrapped"] += 1
            self._refuse(UNKNOWN, wrapped.timestamp, source, now)
            return
        message = self._delivery.unwrap(wrapped, source, now)
        if message is not None:
            self._handle(message, source, now)

    @property
    def _delivery(self) -> AcknowledgedDelivery:
        delivery = self._searching.delivery
        assert isinstance(delivery, AcknowledgedDelivery)
        return delivery

    # ---- refusals

    def _is_known(self, address: Address) -> bool:
        """Whether an address is exempt from the limit for strangers: neighbours, dropped ones, those awaited by a
        join."""
        return address in self._members or address in self._members.dropped or address in self._awaited

    def _may_command(self, message: AnyMessage, source: Address, now: int) -> bool:
        if self._station.open_network.obeys(source):
            return True
        self._station.counters["rejected_command"] += 1
        self._station.nack(Status.BAD_REQUEST, OPERATIONS[CODES[type(message)]], message.timestamp, source, now)
        return False

    def _refuse_unreadable(self, data: bytes, source: Address, now: int) -> None:
        code = code_of(data)
        operation = UNKNOWN if code is None else OPERATIONS.get(code, UNKNOWN)
        self._station.counters["rejected_unreadable"] += 1
        if code not in NEVER_ANSWERED:
            self._refuse(operation, timestamp_of(data), source, now)

    def _refuse(self, operation: str, timestamp: int | None, source: Address, now: int) -> None:
        station = self._station
        if not station.open_network.refusals.permits(source, now):
            station.counters["unanswered_unreadable"] += 1
            return
        stamp = station.wall_ms(now) if timestamp is None else timestamp
        station.nack(Status.BAD_REQUEST, operation, stamp, source, now)

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if a part is inconsistent; tests call this after every step."""
        for part in (
            self._members,
            self._joining,
            self._neighbour_search,
            self._suspecting,
            self._monitor,
            self._departures,
            self._storing,
            self._searching,
            self._station.open_network,
            self._station.tracer,
        ):
            part.check_invariants()
        for optional in (self._mutual, self._structured, self._standings):
            if optional is not None:
                optional.check_invariants()
        assert self._next_timer <= self._find_next_timer()


# ---- handlers: one table per combination of settings, as one per broker would take half of a broker's memory

_HANDLERS: dict[type, Callable[[Broker], Handler]] = {
    StartNeighborsMonitoring: lambda broker: broker._start_monitoring,
    Ping: lambda broker: broker._answer_ping,
    ContextUpdateAdvertisement: lambda broker: broker._storing.handle_update,
    ContextRequest: lambda broker: broker._searching.handle_request,
    QuietRequest: lambda broker: broker._searching.handle_request,
    Lookahead: lambda broker: broker._searching.handle_lookahead,
    ContextResponse: lambda broker: broker._searching.handle_response,
    Ack: lambda broker: broker._accept_ack,
    Nack: lambda broker: broker._accept_nack,
    BrokerLeaving: lambda broker: broker._leave,
    BrokerJoining: lambda broker: broker._join,
    PingResponse: lambda broker: broker._accept_ping_response,
    NeighborsRequest: lambda broker: broker._tell_neighbours,
    NeighborsResponse: lambda broker: broker._accept_neighbours,
    StatsRequest: lambda broker: broker._tell_statistics,
    StatsResponse: lambda broker: broker._accept_statistics,
    BrokerGone: lambda broker: broker._departures.handle_notice,
    HopData: lambda broker: broker._unwrap,
    HopAck: lambda broker: broker._delivery.accept_ack,
    IndirectPing: lambda broker: broker._suspecting.handle_question,
    IndirectPingResponse: lambda broker: broker._suspecting.accept_answer,
    ReplicaRefresh: lambda broker: broker._storing.handle_refresh,
    ReplicaConfirm: lambda broker: broker._storing.handle_confirm,
    Withdraw: lambda broker: broker._storing.handle_withdrawal,
    FeedRequest: lambda broker: broker._tell_changes,
    FeedResponse: lambda broker: lambda *_: False,  # brokers never ask
    BrokersRequest: lambda broker: broker._tell_brokers,
    BrokersResponse: lambda broker: lambda *_: False,
}


@lru_cache(maxsize=64)
def _handlers(config: BrokerConfig) -> dict[type, Callable[[Broker], Handler]]:
    """The handlers of the messages that a broker with these settings accepts."""
    handlers = dict(_HANDLERS)
    if config.arm == "structured":
        handlers |= {kind: partial(_of_structured, handler) for kind, handler in STRUCTURED.items()}
    return {kind: handler for kind, handler in handlers.items() if BY_CLASS[kind].is_known_with(config)}


def _of_structured(handler: Callable[[Structured], Handler], broker: Broker) -> Handler:
    assert broker._structured is not None
    return handler(broker._structured)
