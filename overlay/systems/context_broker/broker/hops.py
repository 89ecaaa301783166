"""Delivery between brokers: plain, or wrapped (22), acknowledged (23) and retransmitted.

``searching`` passes its 3, 4, 6 and 16 to other brokers here. Messages to clients are never wrapped.
``docs/extensions.md`` has the rules.

::

    send ──> 22 ──> (lost) ── RTO ──> 22 ──> 23 ──> done            RTO doubles from one try to the next
                                  └─> no 23 after ``hop_tries``: a 3 is a doubtful branch of its query, others are lost
                                  └─> NACK 301: that broker does not know 22, and gets everything as it is for a while

The retransmission timer is TCP's (Jacobson 1988, RFC 6298) with a lower floor, one per neighbour. A 23 repeats the
timestamp of the try that it acknowledges, so every acknowledgement is a measurement (no ambiguity as in Karn's
algorithm).
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush

from overlay.core.addresses import Address
from overlay.core.errors import WireError
from overlay.core.node import MILLISECOND, SECOND
from overlay.systems.context_broker.broker.pending import Query
from overlay.systems.context_broker.broker.station import Station
from overlay.systems.context_broker.wire.codec import encode, parse
from overlay.systems.context_broker.wire.extensions import HopAck, HopData, Lookahead, QuietRequest
from overlay.systems.context_broker.wire.kinds import MAX_DATAGRAM
from overlay.systems.context_broker.wire.messages import ContextRequest, ContextResponse, Nack, Status
from overlay.systems.context_broker.wire.table import CODES, OPERATIONS, UNKNOWN, AnyMessage

FIRST_RTO = 200 * MILLISECOND
"""Before the first measurement. RFC 6298 uses 1 s, for intercontinental paths."""
LEAST_RTO = 20 * MILLISECOND
LONGEST_RTO = 4 * SECOND
LEAST_SPREAD = 10 * MILLISECOND
"""Minimum tolerance above the mean, because brokers process datagrams in batches."""

PLAIN_FOR = 60 * SECOND
"""How long a broker that answered 22 with NACK 301 gets plain datagrams, unless it joins again."""
PATIENCE = 3
"""For a broker that has acknowledged before, this many consecutive NACKs 301 are needed; fewer may be damaged
datagrams."""

MOST_OPEN = 4096
MOST_OPEN_TO_ONE = 1024
MOST_OPEN_BYTES = 16 * 2**20
"""Maximum unacknowledged bytes; beyond it messages are sent plain."""
MOST_PEERS = 1024
WINDOW = 1024
"""Sequence numbers remembered per sender."""
MOST_SENDERS = 256

Failed = Callable[[Query, Address, int], None]


class Delivery:
    """Sends messages to brokers. This class sends each message once."""

    def __init__(self, station: Station) -> None:
        self._station = station

    def send(self, code: int, data: bytes, to: Address, now: int, query: Query | None = None) -> None:
        """``query`` is the query of a 3."""
        self._station.send(code, data, to, now)

    def send_message(self, message: ContextResponse | Nack, to: Address, now: int) -> None:
        """``send``, except for messages too long for a datagram."""
        try:
            data = encode(message)
        except WireError:
            self._station.counters["oversized"] += 1
            return
        self.send(CODES[type(message)], data, to, now)

    def meet(self, broker: Address) -> None:
        """A broker joined again: reset the information about it."""

    def forget(self, broker: Address) -> None:
        """A broker is gone: stop retransmissions."""

    def accept_refusal(self, nack: Nack, source: Address, now: int) -> bool:
        """Whether a NACK refuses a 22 of this broker."""
        return False

    def handle_timer(self, now: int) -> None:
        """Retransmit what is due."""

    def next_timer(self) -> int | None:
        return None

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if the state is inconsistent."""


def make_delivery(station: Station, on_failed: Failed) -> Delivery:
    """The delivery according to the settings; ``on_failed`` is called for each 3 that could not be delivered."""
    return AcknowledgedDelivery(station, on_failed) if station.config.hop_ack else Delivery(station)


# ---- state per broker


class RoundTrip:
    """The smoothed round trip of acknowledgements and its variation; nanoseconds."""

    __slots__ = ("_factor", "_mean", "_spread")

    def __init__(self) -> None:
        self._mean = 0
        self._spread = 0
        self._factor = 1

    @property
    def rto(self) -> int:
        """The time-out before the first retransmission."""
        measured = max(LEAST_RTO, self._mean + max(LEAST_SPREAD, 4 * self._spread))
        return min(LONGEST_RTO, self._factor * (measured if self._mean else FIRST_RTO))

    def note_silence(self) -> None:
        """All tries were unacknowledged: use a longer time-out until the next measurement."""
        if self.rto < LONGEST_RTO:
            self._factor *= 2

    def note(self, sample: int) -> None:
        self._factor = 1
        if not self._mean:
            self._mean, self._spread = max(1, sample), sample // 2
            return
        self._spread += (abs(sample - self._mean) - self._spread) // 4
        self._mean = max(1, self._mean + (sample - self._mean) // 8)


@dataclass(slots=True)
class Peer:
    """A receiving broker."""

    round_trip: RoundTrip = field(default_factory=RoundTrip)
    has_acknowledged: bool = False
    refusals: int = 0
    """NACKs 301 since the last acknowledgement."""
    plain_until: int = -1


@dataclass(slots=True, eq=False)
class Open:
    """An unacknowledged message."""

    code: int
    data: bytes
    to: Address
    sequence: int
    query: Query | None
    rto: int
    due: int = 0
    """When to retransmit it; -1 if not needed any more."""
    tries: dict[int, int] = field(default_factory=dict)
    """Times of transmission (ns), by the timestamp of the try."""
    sent: int = 0


class Window:
    """The last sequence numbers of one sender."""

    __slots__ = ("_known", "_order")

    def __init__(self) -> None:
        self._known: set[int] = set()
        self._order: deque[int] = deque()

    def note(self, sequence: int) -> bool:
        """``False`` for a duplicate."""
        if sequence in self._known:
            return False
        if len(self._order) >= WINDOW:
            self._known.discard(self._order.popleft())
        self._known.add(sequence)
        self._order.append(sequence)
        return True

    def check_invariants(self) -> None:
        assert len(self._known) == len(self._order) <= WINDOW


class AcknowledgedDelivery(Delivery):
    """Sends each message up to ``hop_tries`` times until it is acknowledged, and accepts each once."""

    def __init__(self, station: Station, on_failed: Failed) -> None:
        super().__init__(station)
        self._on_failed = on_failed
        self._tries = station.config.hop_tries
        self._sequence = 0
        self._peers: OrderedDict[Address, Peer] = OrderedDict()
        self._open: dict[Address, dict[int, Open]] = {}
        self._count = 0
        self._bytes = 0
        self._timers: list[tuple[int, int, Open]] = []
        """(due, sequence, message); obsolete if the message's ``due`` has changed."""
        self._senders: OrderedDict[Address, Window] = OrderedDict()

    # ---- sending

    def send(self, code: int, data: bytes, to: Address, now: int, query: Query | None = None) -> None:
        """Wrapped if ``to`` is a broker and probably supports 22; otherwise plain and once."""
        if not self._station.is_broker(to) or self._peer(to).plain_until > now or not self._has_room(data, to):
            self._station.counters["hop_plain"] += 1
            super().send(code, data, to, now)
            return
        message = Open(code, data, to, self._next_sequence(now), query, self._peer(to).round_trip.rto)
        self._open.setdefault(to, {})[message.sequence] = message
        self._count += 1
        self._bytes += len(data)
        self._send(message, now)

    def _send(self, message: Open, now: int) -> None:
        stamp = self._station.wall_ms(now)
        message.tries[stamp] = now
        message.sent += 1
        message.due = now + message.rto
        message.rto = min(2 * message.rto, LONGEST_RTO)
        heappush(self._timers, (message.due, message.sequence, message))
        if len(self._timers) > 2 * self._count + 64:
            self._timers = [(each.due, each.sequence, each) for to in self._open.values() for each in to.values()]
            heapify(self._timers)
        self._station.send(22, _wrap(stamp, message), message.to, now)

    def _has_room(self, data: bytes, to: Address) -> bool:
        return (
            len(data) <= MAX_DATAGRAM - _MOST_HEADER
            and self._count < MOST_OPEN
            and self._bytes + len(data) <= MOST_OPEN_BYTES
            and len(self._open.get(to, ())) < MOST_OPEN_TO_ONE
        )

    def _next_sequence(self, now: int) -> int:
        """Greater than all numbers before a restart, as no broker sends a thousand per millisecond."""
        self._sequence = max(self._sequence + 1, 1000 * self._station.wall_ms(now))
        return self._sequence

    def _peer(self, broker: Address) -> Peer:
        peer = self._peers.get(broker)
        if peer is None:
            peer = self._peers[broker] = Peer()
            if len(self._peers) > MOST_PEERS:
                self._peers.popitem(last=False)
        self._peers.move_to_end(broker)
        return peer

    def _close(self, message: Open) -> None:
        message.due = -1
        open_there = self._open[message.to]
        del open_there[message.sequence]
        if not open_there:
            del self._open[message.to]
        self._count -= 1
        self._bytes -= len(message.data)

    # ---- answers

    def accept_ack(self, ack: HopAck, source: Address, now: int) -> bool:
        """Handle an acknowledgement; ``False`` if no message with that number is open."""
        message = self._open.get(source, {}).get(ack.sequence)
        if message is None:
            return False
        peer = self._peer(source)
        peer.has_acknowledged, peer.refusals = True, 0
        sent_at = message.tries.get(ack.timestamp)
        if sent_at is not None:
            peer.round_trip.note(now - sent_at)
        self._close(message)
        return True

    def accept_refusal(self, nack: Nack, source: Address, now: int) -> bool:
        """Handle a NACK 301: the broker does not support 22, or received a damaged datagram."""
        peer = self._peers.get(source)
        if peer is None or nack.status != Status.BAD_REQUEST or nack.operation != UNKNOWN:
            return False
        if peer.plain_until > now:  # a NACK for an earlier message
            return True
        messages = list(self._open.get(source, {}).values())
        if not any(nack.timestamp in message.tries for message in messages):
            return False
        peer.refusals += 1
        if peer.has_acknowledged and peer.refusals < PATIENCE:
            return True
        peer.plain_until = now + PLAIN_FOR
        for message in messages:
            self._close(message)
            self._station.counters["hop_plain"] += 1
            super().send(message.code, message.data, source, now)
        return True

    def meet(self, broker: Address) -> None:
        peer = self._peers.get(broker)
        if peer is not None:
            peer.has_acknowledged, peer.refusals, peer.plain_until = False, 0, -1

    def forget(self, broker: Address) -> None:
        for message in list(self._open.get(broker, {}).values()):
            self._close(message)
        self._peers.pop(broker, None)

    # ---- receiving

    def unwrap(self, wrapped: HopData, source: Address, now: int) -> AnyMessage | None:
        """Acknowledge a 22 from a known broker. Returns its message, unless it is a duplicate or not permitted in a
        22."""
        counters = self._station.counters
        try:
            message = parse(wrapped.message)
        except WireError:  # perhaps damaged: not acknowledged, so it is retransmitted
            message = None
        if message is None or not _is_between_brokers(message):
            counters["rejected_wrapped"] += 1
            return None
        self._station.send_message(HopAck(wrapped.timestamp, wrapped.sequence), source, now)
        if not self._window(source).note(wrapped.sequence):
            counters["hop_duplicates"] += 1
            return None
        return message

    def _window(self, source: Address) -> Window:
        window = self._senders.get(source)
        if window is None:
            window = self._senders[source] = Window()
            if len(self._senders) > MOST_SENDERS:
                self._senders.popitem(last=False)
        self._senders.move_to_end(source)
        return window

    # ---- time

    def handle_timer(self, now: int) -> None:
        while self._timers and self._timers[0][0] <= now:
            due, _, message = heappop(self._timers)
            if message.due != due:
                continue
            if message.sent < self._tries and self._station.knows(message.to):
                self._station.counters["hop_repeats"] += 1
                self._send(message, now)
                continue
            self._station.counters["hop_lost"] += 1
            self._peer(message.to).round_trip.note_silence()
            self._close(message)
            if message.query is not None:
                self._on_failed(message.query, message.to, now)

    def next_timer(self) -> int | None:
        while self._timers and self._timers[0][2].due != self._timers[0][0]:
            heappop(self._timers)
        return self._timers[0][0] if self._timers else None

    def check_invariants(self) -> None:
        messages = [message for there in self._open.values() for message in there.values()]
        assert len(messages) == self._count <= MOST_OPEN
        assert sum(len(message.data) for message in messages) == self._bytes <= MOST_OPEN_BYTES
        assert all(0 < len(there) <= MOST_OPEN_TO_ONE for there in self._open.values())
        assert all(1 <= message.sent <= self._tries for message in messages)
        waiting = {id(message) for due, _, message in self._timers if message.due == due}
        assert waiting == {id(message) for message in messages}
        assert len(self._timers) <= 2 * MOST_OPEN + 65
        assert len(self._peers) <= MOST_PEERS
        assert len(self._senders) <= MOST_SENDERS
        for window in self._senders.values():
            window.check_invariants()


_MOST_HEADER = len(b"22||") + 2 * 19 + 1


def _wrap(stamp: int, message: Open) -> bytes:
    return encode(HopData(stamp, message.sequence, message.data))


def _is_between_brokers(message: AnyMessage) -> bool:
    """Whether it is a message about a query between brokers: no message of clients, no order, and no 22."""
    if isinstance(message, QuietRequest):
        return False
    if isinstance(message, Nack):
        return bool(message.hops) and message.operation == OPERATIONS[3]
    return isinstance(message, ContextRequest | ContextResponse | Lookahead) and bool(message.hops)
