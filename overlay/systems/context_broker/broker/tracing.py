"""Query traces: the steps of a query at a broker, for a sample of queries and for every query that fails here.

Counterparts: ``searching`` records the steps, ``overlay.runtime.server_process`` writes the drained steps to the
journal, and ``telemetry.systems.context_broker.traces`` joins the steps of all brokers. The sample depends only on a
query's timestamp and its consumer's port, so every broker samples the same queries without extra messages. The steps of
other queries are kept in a ring buffer of fixed size. It is allocated at the start, so that its memory is not counted
as the cost of requests::

    note ──> sampled, or failed here before? ── yes ──> reported, up to the rate limit ──> drained
                 └── no ──> ring ── its query fails ──> its steps in the ring ───^
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from struct import Struct
from typing import TypeVar

from overlay.core.addresses import Address
from overlay.core.node import SECOND
from overlay.systems.context_broker.broker.queries import Name
from overlay.systems.context_broker.wire.messages import RawKey

V = TypeVar("V")

FAILURES = frozenset({"passed back", "gave up", "expired"})
"""Steps that mean that a query failed at this broker, even if another broker finds the data."""

STEPS = (
    "received",  # a request arrived from its consumer or from a broker
    "looked",  # a lookahead arrived and the table was searched
    "dropped",  # the same request is already pending here
    "turned away",  # refused, because the query was here before
    "found",  # found in the table here and answered
    "forwarded",  # the request was sent to a neighbour
    "looks",  # a lookahead was sent to a neighbour
    "answered",  # a Response arrived from a neighbour
    "replicated",  # and was stored here
    "replied",  # and was passed back to the sender of the request
    "refused",  # a NACK arrived from a neighbour
    "gave up",  # stopped waiting for a neighbour that is gone
    "expired",  # no reply arrived before the deadline
    "passed back",  # a NACK was sent to the sender of the request: no neighbour is left
)

REPORTED_A_SECOND = 200
"""Maximum steps that a broker reports per second. Failed queries may use half, so that they never hide the sample."""

OF_A_FAILURE = 50
"""Maximum steps that a broker reports of one failed query. A long walk may have more."""

FAILED = 256
"""The number of recently failed queries whose later steps are reported immediately."""

MOST_PEERS = 4096
MOST_DETAILS = 256
ENTITY_LENGTH = 500
"""Maximum reported characters of an entity's name. A client may request names of 64 kB."""

_CONSUMER: Address = ("", 0)
_MARK = Struct("=q")
_CODE = {step: place + 1 for place, step in enumerate(STEPS)}
_RECEIVED = _CODE["received"], _CODE["forwarded"]
_ANSWERED = _CODE["answered"], _CODE["replied"]


@dataclass(frozen=True, slots=True)
class Step:
    """One step of one query at this broker."""

    at: int
    """The broker's ``now``, in nanoseconds."""
    consumer: Address
    timestamp: int
    entity: str
    """``type|id|scope``."""
    step: str
    """One of ``STEPS``."""
    peer: Address | None
    """The sender or receiver of the message."""
    detail: str


class Tracer:
    """Receives every step of every query. This base class discards them."""

    lost = 0
    """Steps that should have been reported but were overwritten in the ring or exceeded the rate."""
    one_in = 2**62
    """A query is sampled if ``hash((timestamp, port of the consumer)) % one_in`` is 0."""
    is_calm = True
    """Whether it ``ignores`` all other queries. An attribute, because it is read before every batch."""

    def note(self, name: Name, step: str, now: int, peer: Address | None = None, detail: str = "") -> None:
        """Record a step. ``step`` is one of ``STEPS``; ``peer`` is the sender or receiver."""

    def note_forwarded(self, name: Name, now: int, source: Address, neighbour: Address) -> None:
        """Record that the query arrived from ``source`` and was forwarded immediately."""

    def note_passed_back(self, name: Name, now: int, neighbour: Address, to: Address) -> None:
        """Record that its answer arrived from ``neighbour`` and was passed back immediately."""

    def ignores(self, consumer: Address, timestamp: int, key: RawKey) -> bool:
        """Whether no step of this query is kept if it is answered from the table."""
        return True

    def drain(self) -> list[Step]:
        """The steps to report since the last call."""
        return []

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if the internal state is inconsistent."""


def is_sampled(timestamp: int, port: int, one_in: int) -> bool:
    """Whether a query with this timestamp from a consumer at this port is in the sample of every broker.

    ``Recorder`` inlines it for speed. The hash of numbers is the same in every process.
    """
    return one_in > 0 and hash((timestamp, port)) % one_in == 0


def make_tracer(one_in: int, steps: int) -> Tracer:
    """The tracer for these settings."""
    return Recorder(one_in, steps) if one_in else Tracer()


class Recorder(Tracer):
    """Reports one query in ``one_in``, and those that fail if their steps are among the last ``steps`` steps."""

    def __init__(self, one_in: int, steps: int) -> None:
        self.one_in = one_in
        self._steps = _Ring(steps)
        self._failed: dict[int, None] = {}
        self._name: Name | None = None
        self._mark: int | None = None
        """The query of the last step and its mark in the ring; sampled queries are not in the ring."""
        self._held: tuple[Name, int, Address | None] | None = None
        """The last step, if a request was received: its name, time and sender."""
        self._reported: list[Step] = []
        self._second = 0
        self._in_second = 0
        self.lost = 0

    def note(self, name: Name, step: str, now: int, peer: Address | None = None, detail: str = "") -> None:
        if name is not self._name:
            self._name = name
            is_sampled = hash((name[1], name[0][1])) % self.one_in == 0  # numbers have the same hash in every process
            self._mark = None if is_sampled else hash(name)
        mark = self._mark
        if mark is None:
            if self._may_report(1, REPORTED_A_SECOND, now):
                self._report(name, now, step, peer, detail)
            return
        if self._held is not None:
            held, self._held = self._held, None
            self.is_calm = not self._failed
            if step == "found" and held[0] == name and mark not in self._failed:
                return  # the common case: a request answered here cannot fail here
            held_mark = mark if held[0] is name else hash(held[0])
            self._keep(held[0], held_mark, "received", held[1], held[2], "")
        if step == "received":
            self._held = name, now, peer
            self.is_calm = False
        else:
            self._keep(name, mark, step, now, peer, detail)

    def note_forwarded(self, name: Name, now: int, source: Address, neighbour: Address) -> None:
        mark, consumer = hash(name), name[0]
        if self._held or mark in self._failed or hash((name[1], consumer[1])) % self.one_in == 0:
            self.note(name, "received", now, source)
            self.note(name, "forwarded", now, neighbour)
        else:
            self._steps.put_two(mark, now, _RECEIVED, _CONSUMER if source == consumer else source, neighbour)

    def note_passed_back(self, name: Name, now: int, neighbour: Address, to: Address) -> None:
        mark, consumer = hash(name), name[0]
        if self._held or mark in self._failed or hash((name[1], consumer[1])) % self.one_in == 0:
            self.note(name, "answered", now, neighbour)
            self.note(name, "replied", now, to)
        else:
            self._steps.put_two(mark, now, _ANSWERED, neighbour, _CONSUMER if to == consumer else to)

    def _keep(self, name: Name, mark: int, step: str, now: int, peer: Address | None, detail: str) -> None:
        """Store a step of a query outside the sample in the ring, or report it if the query fails or has failed."""
        if mark in self._failed:
            if self._may_report(1, REPORTED_A_SECOND // 2, now):
                self._report(name, now, step, peer, detail)
            return
        self._steps.put(mark, now, step, _CONSUMER if peer == name[0] else peer, detail)
        if step in FAILURES:
            self._report_failed(name, mark, now)

    def ignores(self, consumer: Address, timestamp: int, key: RawKey) -> bool:
        if hash((timestamp, consumer[1])) % self.one_in == 0 or self._held is not None:
            return False
        return not self._failed or hash((consumer, timestamp, key)) not in self._failed

    def drain(self) -> list[Step]:
        reported, self._reported = self._reported, []
        return reported

    def _report_failed(self, name: Name, mark: int, now: int) -> None:
        """Report the newest steps of a query in the ring, or none if the rate limit does not allow all of them."""
        if self._in_second >= REPORTED_A_SECOND // 2 and now - self._second < SECOND:
            self.lost += 1
            return
        steps = self._steps.take(mark)
        if steps[0][1] not in ("received", "looked"):
            self.lost += 1
        self.lost += len(steps[:-OF_A_FAILURE])
        steps = steps[-OF_A_FAILURE:]
        if not self._may_report(len(steps), REPORTED_A_SECOND // 2, now):
            return
        while len(self._failed) >= FAILED:
            del self._failed[next(iter(self._failed))]
        self._failed[mark] = None
        self.is_calm = False
        for at, step, peer, detail in steps:
            self._report(name, at, step, name[0] if peer is _CONSUMER else peer, detail)

    def _may_report(self, steps: int, most: int, now: int) -> bool:
        if now - self._second >= SECOND:
            self._second, self._in_second = now, 0
        if self._in_second + steps > most or len(self._reported) + steps > 2 * REPORTED_A_SECOND:
            self.lost += steps
            return False
        self._in_second += steps
        return True

    def _report(self, name: Name, at: int, step: str, peer: Address | None, detail: str) -> None:
        consumer, timestamp, key = name
        self._reported.append(Step(at, consumer, timestamp, key.decode()[:ENTITY_LENGTH], step, peer, detail))

    def check_invariants(self) -> None:
        assert self._in_second <= REPORTED_A_SECOND
        assert len(self._reported) <= 2 * REPORTED_A_SECOND
        assert len(self._failed) <= FAILED
        assert self.is_calm == (self._held is None and not self._failed)
        self._steps.check_invariants()


class _Ring:
    """The newest steps, as numbers in arrays. A query is stored as its mark; a peer and a detail as an index."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._next = 0
        self._marks = array("q", bytes(8 * size))
        self._times = array("q", bytes(8 * size))
        self._codes = bytearray(size)
        """Index of the step in ``STEPS``, plus one; 0 for an empty slot."""
        self._peers = array("H", bytes(2 * size))
        self._details = bytearray(size)
        self._known_peers = _Known[Address | None](None, MOST_PEERS)
        self._known_details = _Known[str]("", MOST_DETAILS)

    def put(self, mark: int, now: int, step: str, peer: Address | None, detail: str) -> None:
        at = self._next
        self._marks[at] = mark
        self._times[at] = now
        self._codes[at] = _CODE[step]
        self._peers[at] = self._known_peers[peer]
        self._details[at] = self._known_details[detail]
        self._next = at + 1 if at + 1 < self._size else 0

    def put_two(self, mark: int, now: int, codes: tuple[int, int], peer: Address, other: Address) -> None:
        """``put`` two steps at the same time, without details."""
        at, peers = self._next, self._known_peers
        after = at + 1 if at + 1 < self._size else 0
        self._marks[at] = self._marks[after] = mark
        self._times[at] = self._times[after] = now
        self._codes[at], self._codes[after] = codes
        self._peers[at], self._peers[after] = peers[peer], peers[other]
        self._details[at] = self._details[after] = 0
        self._next = after + 1 if after + 1 < self._size else 0

    def take(self, mark: int) -> list[tuple[int, str, Address | None, str]]:
        """Remove the steps with this mark and return (time, step, peer, detail) of each, in order."""
        places = sorted(self._places(mark), key=lambda at: (at - self._next) % self._size)
        taken = [
            (
                self._times[at],
                STEPS[self._codes[at] - 1],
                self._known_peers.values_at[self._peers[at]],
                self._known_details.values_at[self._details[at]],
            )
            for at in places
        ]
        for at in places:
            self._codes[at] = 0
        return taken

    def _places(self, mark: int) -> list[int]:
        marks, wanted, places = self._marks.tobytes(), _MARK.pack(mark), []
        at = marks.find(wanted)
        while at >= 0:
            place, rest = divmod(at, _MARK.size)
            if not rest and self._codes[place]:
                places.append(place)
            at = marks.find(wanted, at + 1)
        return places

    def check_invariants(self) -> None:
        assert 0 <= self._next < self._size == len(self._marks) == len(self._codes)
        assert max(self._codes) <= len(STEPS)
        self._known_peers.check_invariants()
        self._known_details.check_invariants()


class _Known(dict[V, int]):
    """The index of each value in ``values``. When it is full, new values get index 0, that of ``other``."""

    def __init__(self, other: V, most: int) -> None:
        super().__init__({other: 0})
        self.values_at: list[V] = [other]
        self._most = most

    def __missing__(self, value: V) -> int:
        if len(self) >= self._most:
            return 0
        self[value] = place = len(self)
        self.values_at.append(value)
        return place

    def check_invariants(self) -> None:
        assert [self[value] for value in self.values_at] == list(range(len(self)))
        assert len(self) <= self._most
