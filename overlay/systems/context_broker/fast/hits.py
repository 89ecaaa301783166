"""The front of a broker: what comes most is taken here, with as few steps between as can be.

Requests of consumers that the table answers, which are most, are answered without building a message. Counterpart:
``searching`` answers every request, these too, in the same datagrams, counters and traces. Here is what it comes to
when the sender is trusted, the query is not traced, no request like it still waits, and the newest entry is valid now;
whatever else comes is left to it. ``tests/broker/test_hits.py`` holds the two together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence

from overlay.core.addresses import Address
from overlay.core.node import MILLISECOND
from overlay.systems.context_broker.broker.pending import Pending
from overlay.systems.context_broker.broker.queries import hop_text, requester_text
from overlay.systems.context_broker.broker.station import Station
from overlay.systems.context_broker.broker.table import Entry
from overlay.systems.context_broker.fast.lanes import Lanes
from overlay.systems.context_broker.fast.sliced import ONE
from overlay.systems.context_broker.wire.kinds import MAX_DIGITS
from overlay.systems.context_broker.wire.messages import RawKey
from overlay.systems.context_broker.wire.table import OPERATIONS

UNTOLD = -1
"""Of a timer: to be found out again, since something may have changed it."""


class Hits(ABC):
    """Answers what it can at once, and hands on the rest. ``index`` is of its table; without ``lanes`` it has none."""

    def __init__(self, station: Station, pending: Pending, index: Mapping[RawKey, Entry], lanes: Lanes | None) -> None:
        self._station = station
        self._trusted_lanes = lanes
        self._started: int | None = None
        """The instant of the first input."""
        self._first_of_all: Callable[[int], None] | None = None
        """What has to be done before a batch is looked at, whatever timer is due."""
        self._waiting = pending.queries
        self._find = index.get
        self._trusts = station.open_network.trusted_hosts
        self._trusted: Address | None = None
        """Who asked last, of those trusted."""
        self._next_timer = UNTOLD
        """When to look what is due: never too late, and too early by what was settled since it was found out."""
        self._quiet = self._acknowledged = 0
        self._stamped = -1
        """The Unix millisecond of which the two ACKs are, but for whom they are sent to."""
        self._first = self._second = b""

    @abstractmethod
    def _receive(self, data: bytes, source: Address, now: int) -> None:
        """Take a datagram that was not answered at once, and that no lane was asked to take."""

    @abstractmethod
    def _parse(self, data: bytes, source: Address, now: int) -> None:
        """Take a datagram that its lane has left."""

    def receive_datagram(self, data: bytes, source: Address, now: int) -> None:
        self.receive_datagrams(((data, source),), now)

    def receive_datagrams(self, datagrams: Sequence[tuple[bytes, Address]], now: int) -> None:
        if self._started is None:
            self._started = now
        if self._first_of_all is not None:
            self._first_of_all(now)
        # Whatever is the same for all of them is looked up once.
        station, tracer, waiting = self._station, self._station.tracer, self._waiting
        find, trusts, one_in, lanes = self._find, self._trusts, tracer.one_in, self._trusted_lanes
        outgoing, wall_ms = station.outgoing, (now + station.wall_offset_ns) // MILLISECOND
        trusted, is_calm, quiet = self._trusted, tracer.is_calm, 0
        for data, source in datagrams:
            try:
                code, stamp, key = data.split(b"|", 2)
            except ValueError:
                code = stamp = key = b""
            if source is trusted or (source[1] and trusts(source[0])):
                trusted = source
                is_quiet = code == b"32"
                if is_quiet or code == b"3":
                    entry = find(key)  # that of a request with hops is in no table
                    if entry is None:
                        if lanes is not None:
                            self._note(lanes.take_request(data, is_quiet, stamp, key, source, now), data, source, now)
                            is_calm = False  # to be asked again
                            continue
                    elif (
                        entry.valid_begin <= wall_ms < entry.valid_end
                        and stamp.isdigit()
                        and stamp >= ONE
                        and len(stamp) <= MAX_DIGITS
                    ):
                        timestamp = int(stamp)
                        if (
                            hash((timestamp, source[1])) % one_in
                            and (is_calm or tracer.ignores(source, timestamp, key))
                            and not (waiting and (timestamp, key + hop_text(source)) in waiting)
                        ):
                            if is_quiet:
                                outgoing.append((entry.response, source))
                                quiet += 1
                                continue
                            if wall_ms != self._stamped:
                                self._stamp(wall_ms)
                            requester = requester_text(source)
                            outgoing += (
                                (self._first + requester, source),
                                (entry.response, source),
                                (self._second + requester, source),
                            )
                            self._acknowledged += 1
                            continue
                elif code == b"4" and lanes is not None:
                    self._note(lanes.take_answer(data, source, now), data, source, now)
                    is_calm = False
                    continue
            self._quiet += quiet  # it may ask for the counters
            quiet = 0
            self._receive(data, source, now)
            is_calm = tracer.is_calm
        self._quiet += quiet
        self._trusted = trusted

    def _note(self, due: int | None, data: bytes, source: Address, now: int) -> None:
        """What a lane has said of a datagram."""
        if due is None:
            self._parse(data, source, now)
        elif due < self._next_timer:
            self._next_timer = due

    def _stamp(self, wall_ms: int) -> None:
        ack = f"5|{wall_ms}|ACK|Status:%d|Operation {OPERATIONS[3]}|Requested by "
        self._stamped, self._first, self._second = wall_ms, (ack % 101).encode(), (ack % 102).encode()

    def _settle_hits(self) -> None:
        """Bring the station's counters up to date."""
        received, sent, counters = self._station.received, self._station.sent, self._station.counters
        received[32] += self._quiet
        received[3] += self._acknowledged
        sent[5] += 2 * self._acknowledged
        sent[4] += self._quiet + self._acknowledged
        counters["hits"] += self._quiet + self._acknowledged
        self._quiet = self._acknowledged = 0
