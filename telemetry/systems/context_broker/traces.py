"""Joins the brokers' reports of single queries to one trace per query. Pure.

Counterparts: ``overlay.systems.context_broker.broker.tracing`` reports the steps,
``telemetry.systems.context_broker.tracefile`` stores the traces. All brokers of a run share one host's monotonic
zero, so their times can be compared. Nothing is guessed: an incomplete trace is marked as such::

    consumer ── received 2 ── forwarded ──1──> received 5 ── forwarded ──2──> received 7 ── found
             <── replied ──── answered <─ ─ ─ ─ replied ──── answered <─ ─ ─ ─ ─ ─ ─ ─ ─ ─ ─┘
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from typing import NamedTuple

from overlay.journal.facts import Start, Trace
from telemetry.systems.context_broker.names import broker_index

MOST_STEPS = 400_000
"""Maximum steps of one run. Beyond it, every second query is omitted, then every second of the rest."""

CONSUMER, NOBODY, STRANGER = -1, -2, -3
"""Peers of a step that are not brokers of the run: the consumer, none, or an unknown address."""

OUTCOMES = ("answered", "not_found", "refused", "lost", "unknown")
"""The outcome of a query at the broker asked. ``lost``: nothing returned to it; ``unknown``: not reported."""

PASSAGES = {
    "forwarded": ("received", "request"),
    "looks": ("looked", "lookahead"),
    "found": ("answered", "answer"),
    "replied": ("answered", "answer"),
    "passed back": ("refused", "refusal"),
    "turned away": ("refused", "refusal"),
}
"""By step that sends a message: the step that receives it, and the kind of message."""

RETURNS = {"answered": "answer", "refused": "refusal"}
"""By step that receives an answer or a refusal: the kind of message."""

TOLD = {"found": "answered", "replied": "answered", "turned away": "not_found", "passed back": ""}
"""By step that ends a query for its consumer: the outcome; if empty, the status decides."""

Name = tuple[str, int, str]
"""Consumer, timestamp and entity, as in ``overlay.journal.facts.Trace``."""


class Step(NamedTuple):
    """One step of a query at one broker."""

    at_us: int
    broker: int
    """Its index."""
    step: str
    peer: int
    """The index of the sending or receiving broker, or one of ``CONSUMER``, ``NOBODY``, ``STRANGER``."""
    detail: str


@dataclass(frozen=True, slots=True)
class Hop:
    """A message from one broker to another."""

    number: int | None
    """For a request: its number within its query, from 1."""
    kind: str
    """``request``, ``lookahead``, ``answer`` or ``refusal``."""
    sender: int
    receiver: int
    left_us: int | None
    """When it was sent; ``None`` if the sender did not report it."""
    us: int | None
    """Its duration; ``None`` if only one end reported it, because it was lost, late or not kept."""
    round_us: int | None = None
    """For a request: the time until the answer or refusal of its receiver; ``None`` without one."""


@dataclass(frozen=True)
class Query:
    """One trace."""

    consumer: str
    timestamp_ms: int
    entity: str
    steps: Sequence[Step]
    """In chronological order."""

    @property
    def id(self) -> str:
        return id_of((self.consumer, self.timestamp_ms, self.entity))

    @property
    def at_us(self) -> int:
        """When the broker asked received it, or else the first reported step."""
        return (self._asked or self.steps[0]).at_us

    @property
    def asked(self) -> int | None:
        """The broker asked by the consumer."""
        return self._asked.broker if self._asked else None

    @property
    def outcome(self) -> str:
        return self._end[0]

    @property
    def us(self) -> int | None:
        """From the request's arrival at the broker asked to its answer or refusal; ``None`` without either."""
        end = self._end[1]
        return end.at_us - self._asked.at_us if end and self._asked else None

    @cached_property
    def hops(self) -> list[Hop]:
        return hops_of(self.steps)

    @property
    def requests(self) -> int:
        """The number of forwarded requests, which are the numbered hops."""
        return sum(hop.kind == "request" for hop in self.hops)

    @property
    def replicas(self) -> list[int]:
        """Brokers that kept a replica."""
        return sorted({step.broker for step in self.steps if step.step == "replicated"})

    @property
    def silent(self) -> list[int]:
        """Brokers to which it was sent that neither reported nor answered it."""
        asked = {hop.receiver for hop in self.hops if hop.kind in ("request", "lookahead")}
        heard = {step.peer for step in self.steps if step.step in ("answered", "refused")}
        return sorted(asked - heard - {step.broker for step in self.steps})

    @property
    def is_partial(self) -> bool:
        """Whether it is incomplete."""
        return self.asked is None or self.outcome == "unknown" or bool(self.silent)

    @cached_property
    def _asked(self) -> Step | None:
        return next((step for step in self.steps if step.step == "received" and step.peer == CONSUMER), None)

    @cached_property
    def _end(self) -> tuple[str, Step | None]:
        for step in self.steps:
            if step.peer == CONSUMER and step.step in TOLD:
                return TOLD[step.step] or ("not_found" if step.detail == "202" else "refused"), step
        waited = (step for step in self.steps if step.broker == self.asked and step.step in ("expired", "gave up"))
        return ("lost" if any(waited) else "unknown"), None


def id_of(name: Name) -> str:
    """An id of a query for URLs: 16 hexadecimal digits."""
    return blake2b("\n".join(map(str, name)).encode(), digest_size=8).hexdigest()


def hops_of(steps: Sequence[Step]) -> list[Hop]:
    """The messages between brokers, in the order of sending; each arrival is matched with the earliest possible
    sending.

    An answer reported only by its receiver is placed at its arrival: brokers of the structured arm answer without the
    identity of the query.
    """
    arrivals: dict[tuple[int, int, str], list[int]] = defaultdict(list)
    backs: dict[tuple[int, int], list[int]] = defaultdict(list)
    for step in reversed(steps):
        arrivals[step.peer, step.broker, step.step].append(step.at_us)
        if step.step in RETURNS:
            backs[step.broker, step.peer].append(step.at_us)
    told: list[tuple[int, Hop]] = []
    requests = 0
    for step in steps:
        if step.peer < 0 or step.step not in PASSAGES:
            continue
        arrival, kind = PASSAGES[step.step]
        is_request = kind == "request"
        requests += is_request
        arrived = _first_after(arrivals[step.broker, step.peer, arrival], step.at_us)
        back = _first_after(backs[step.broker, step.peer], step.at_us) if is_request else None
        hop = Hop(
            requests if is_request else None,
            kind,
            step.broker,
            step.peer,
            step.at_us,
            None if arrived is None else arrived - step.at_us,
            None if back is None else back - step.at_us,
        )
        told.append((step.at_us, hop))
    for (sender, receiver, arrival), left in arrivals.items():
        if arrival in RETURNS and sender >= 0:
            told += [(at_us, Hop(None, RETURNS[arrival], sender, receiver, None, None)) for at_us in left]
    return [hop for _, hop in sorted(told, key=lambda one: one[0])]


def _first_after(times: list[int], at_us: int) -> int | None:
    """Remove and return the first time not before ``at_us``, and remove earlier ones, from the end of ``times``."""
    while times and times[-1] < at_us:
        times.pop()
    return times.pop() if times else None


class Gathered:
    """Collects the traces of a run while its journals are read."""

    def __init__(self, most: int = MOST_STEPS) -> None:
        self.kept_one_in = 1
        """One in this many of the reported queries is kept."""
        self._most = most
        self._steps: dict[Name, list[tuple[int, int, str, str, str]]] = defaultdict(list)
        self._count = 0
        self._brokers: dict[str, int] = {}

    def add_start(self, start: Start) -> None:
        """Learn the address of a broker."""
        index = broker_index(start.process)
        if index is not None and start.address:
            self._brokers[start.address] = index

    def add(self, trace: Trace) -> None:
        name = trace.consumer, trace.timestamp_ms, trace.entity
        index = broker_index(trace.process)
        if index is None or not self._is_kept(name):
            return
        self._steps[name] += [
            (at_us, index, sys.intern(step), sys.intern(peer), sys.intern(detail))
            for at_us, step, peer, detail in trace.steps
        ]
        self._count += len(trace.steps)
        while self._count > self._most and len(self._steps) > 1:
            self._thin_out()

    def queries(self) -> Iterable[Query]:
        """One trace per query, in chronological order."""
        found = (Query(*name, self._sorted(name, steps)) for name, steps in self._steps.items() if steps)
        return sorted(found, key=lambda query: query.at_us)

    def _sorted(self, name: Name, steps: Iterable[tuple[int, int, str, str, str]]) -> list[Step]:
        whole = (Step(at, broker, step, self._peer(peer, name), detail) for at, broker, step, peer, detail in steps)
        return sorted(
            whole, key=lambda step: step.at_us
        )  # a stable sort keeps the broker's order of simultaneous steps

    def _peer(self, address: str, name: Name) -> int:
        if not address:
            return NOBODY
        return self._brokers.get(address, CONSUMER if address == name[0] else STRANGER)

    def _is_kept(self, name: Name) -> bool:
        return int(id_of(name), 16) % self.kept_one_in == 0

    def _thin_out(self) -> None:
        self.kept_one_in *= 2
        kept = {name: steps for name, steps in self._steps.items() if self._is_kept(name)}
        self._steps = defaultdict(list, kept)
        self._count = sum(map(len, kept.values()))
