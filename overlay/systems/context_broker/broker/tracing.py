"""What a broker did with a query, step by step, for one query in so many and for every query that fails here.

Counterparts: ``searching`` notes the steps, ``overlay.runtime.server_process`` writes what is drained into the journal,
``telemetry.systems.context_broker.traces`` joins what all brokers wrote. Which queries are sampled follows from their
timestamp and their consumer's port, so every broker chooses the same ones without a byte on the wire. Steps of other
queries lie in a ring of fixed size, whose memory is taken at the start so that it never looks like the cost of
serving::

    note ──> sampled, or failed here before? ── yes ──> reported, within the rate ──> drained
                 └── no ──> ring ── its query fails ──> all of its steps there ──^
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
"""Steps with which a query fails at a broker, whatever other brokers still find."""

STEPS = (
    "received",  # a request, from its consumer or a broker
    "looked",  # a lookahead came, and the table was looked into
    "dropped",  # the same request still waits here
    "turned away",  # the query was here before: refused to whom sent it
    "found",  # in the table here: answered to whom sent it
    "forwarded",  # the request to a neighbour
    "looks",  # a lookahead to a neighbour
    "answered",  # a Response came from a neighbour
    "replicated",  # and was kept
    "replied",  # and passed back to whom sent the request
    "refused",  # a NACK came from a neighbour
    "gave up",  # waiting for a neighbour that is gone
    "expired",  # nothing came until the deadline
    "passed back",  # a NACK to whom sent the request: nobody is left to ask
)

REPORTED_A_SECOND = 200
"""Steps that a broker reports at most. Failures take at most half of them, so that many never hide the sample."""

OF_A_FAILURE = 50
"""Steps that a broker reports at most of one query when it fails; a long walk comes by more often."""

FAILED = 256
"""Queries that failed here last, whose further steps are reported as they come."""

MOST_PEERS = 4096
MOST_DETAILS = 256
ENTITY_LENGTH = 500
"""Characters of an entity's name that are reported; a stranger may ask for names of 64 kB."""

_CONSUMER: Address = ("", 0)
_MARK = Struct("=q")
_CODE = {step: place + 1 for place, step in enumerate(STEPS)}
_RECEIVED = _CODE["received"], _CODE["forwarded"]
_ANSWERED = _CODE["answered"], _CODE["replied"]


@dataclass(frozen=True, slots=True)
class Step:
    """One step of one query at this broker."""

    at: int
    """``now`` of the broker, nanoseconds."""
    consumer: Address
    timestamp: int
    entity: str
    """``type|id|scope``."""
    step: str
    """One of ``STEPS``."""
    peer: Address | None
    """Whom it came from or went to."""
    detail: str


class Tracer:
    """Told of every step of every query. This one keeps nothing."""

    lost = 0
    """Steps that were to be reported and are not: overwritten in the ring, or beyond the rate."""
    one_in = 2**62
    """All is kept of those queries of which ``hash((timestamp, port of the consumer)) % one_in`` is 0."""
    is_calm = True
    """Whether it ``ignores`` all others; asked before every batch, so no property."""

    def note(self, name: Name, step: str, now: int, peer: Address | None = None, detail: str = "") -> None:
        """``step`` is one of ``STEPS``; ``peer`` whom it came from or went to."""

    def note_forwarded(self, name: Name, now: int, source: Address, neighbour: Address) -> None:
        """It was received from ``source`` and forwarded at once."""

    def note_passed_back(self, name: Name, now: int, neighbour: Address, to: Address) -> None:
        """Its answer came from ``neighbour`` and was passed back at once."""

    def ignores(self, consumer: Address, timestamp: int, key: RawKey) -> bool:
        """Whether nothing is kept of this query if all that happens is that it comes and is answered from the table."""
        return True

    def drain(self) -> list[Step]:
        """What is to be reported since the last call."""
        return []

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` where the books disagree."""


def is_sampled(timestamp: int, port: int, one_in: int) -> bool:
    """Whether every broker keeps all steps of a query of this timestamp from this port of a consumer.

    ``Recorder`` has it inline, where each query passes. Numbers hash alike in every process.
    """
    return one_in > 0 and hash((timestamp, port)) % one_in == 0


def make_tracer(one_in: int, steps: int) -> Tracer:
    """The tracer that these settings ask for."""
    return Recorder(one_in, steps) if one_in else Tracer()


class Recorder(Tracer):
    """Reports one query in ``one_in``, and of the others those that fail, as far back as ``steps`` steps reach."""

    def __init__(self, one_in: int, steps: int) -> None:
        self.one_in = one_in
        self._steps = _Ring(steps)
        self._failed: dict[int, None] = {}
        self._name: Name | None = None
        self._mark: int | None = None
        """The last query that a step was noted of, and what it is known by in the ring; a sampled one is not there."""
        self._held: tuple[Name, int, Address | None] | None = None
        """The last step, if it was a request that came: its name, time and sender."""
        self._reported: list[Step] = []
        self._second = 0
        self._in_second = 0
        self.lost = 0

    def note(self, name: Name, step: str, now: int, peer: Address | None = None, detail: str = "") -> None:
        if name is not self._name:
            self._name = name
            is_sampled = hash((name[1], name[0][1])) % self.one_in == 0  # numbers hash alike in every process
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
                return  # most requests end so, at once: what is answered here cannot fail here
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
        """Put a step of a query that is not sampled into the ring, or report it where the query fails or has failed."""
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
        """The newest that the ring holds of a query, or nothing where the rate does not allow all of it."""
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
    """The newest steps as numbers in arrays; a query is known by its mark, a peer and a detail by their place."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._next = 0
        self._marks = array("q", bytes(8 * size))
        self._times = array("q", bytes(8 * size))
        self._codes = bytearray(size)
        """The place of a step in ``STEPS``, plus one; 0 where there is none."""
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
        """``put`` twice at one instant, without a detail."""
        at, peers = self._next, self._known_peers
        after = at + 1 if at + 1 < self._size else 0
        self._marks[at] = self._marks[after] = mark
        self._times[at] = self._times[after] = now
        self._codes[at], self._codes[after] = codes
        self._peers[at], self._peers[after] = peers[peer], peers[other]
        self._details[at] = self._details[after] = 0
        self._next = after + 1 if after + 1 < self._size else 0

    def take(self, mark: int) -> list[tuple[int, str, Address | None, str]]:
        """(when, step, peer, detail) of the steps with this mark, in their order; they are here no longer."""
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
    """The place of each value among ``values``; what finds no room has the place of ``other``, which is 0."""

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
