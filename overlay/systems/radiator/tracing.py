"""What the server traces of single messages: the queues that they join, and the chains that they travel along.

One message in ``trace_one_in`` is traced, with all propagations that hold it. Of other messages, a chain is traced from
its first trouble on. Nothing of it is on the wire: who received what when is in the facts of clients. The clients of a
process report repeats of pushes among themselves::

    accepted ── Joined ──> queue ── Pushed ──> chain 0: 7, 2, 9, 4 ── Stepped: injected, failed at 2, injected, done
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from overlay.core.node import SECOND, NodeEvent
from overlay.systems.radiator.language.thresholds import Threshold
from overlay.systems.radiator.names import propagation_name
from overlay.systems.radiator.wire.messages import Push

if TYPE_CHECKING:  # they import this module
    from overlay.systems.radiator.chains.chain import Chain, Member
    from overlay.systems.radiator.chains.propagation import Propagation

LISTED_A_SECOND = 100_000
"""Clients that a server lists per second. What exceeds it is not traced; the clients of one message always fit."""
OF_A_STEP = 10
"""A step counts as so many clients."""
REPEATS_A_SECOND = 200
"""Repeats that the clients of one process report per second."""
DIRECT = -1
"""The number of the chain of direct pushes."""

STEPS = (
    "injected",  # pushed to this position, for the first time or again
    "left",  # the first datagram of that push left the uplink
    "acknowledged",  # by the client that the server pushed to
    "repeated",  # a push was sent again without an acknowledgement, by the server or a client
    "progress",  # reported by the client at this position
    "failed",  # a client reported that this position does not acknowledge
    "unanswered",  # the position that the server pushed to does not acknowledge
    "passed over",  # this position was unreachable or had left before its push did
    "silent",  # nothing heard of the chain for too long; this position is the first not known to have it
    "direct",  # a push of its own to this position
    "gave up",  # nothing more is sent along this chain
    "done",  # reported by the last client
)
TROUBLE = frozenset(("failed", "unanswered", "passed over", "silent", "gave up"))
"""Steps from which on a chain is traced."""


@dataclass(frozen=True, slots=True)
class Joined(NodeEvent):
    """Recipients for whom a message joined the queue of one result of the aggregability."""

    number: int
    threshold: Threshold
    clients: list[int]


@dataclass(frozen=True, slots=True)
class Pushed(NodeEvent):
    """The members of a chain, by position, or the recipients of direct pushes."""

    propagation: int
    chain: int
    clients: list[int]


@dataclass(frozen=True, slots=True)
class Stepped(NodeEvent):
    """A step of a chain."""

    at: int
    propagation: int
    chain: int
    step: str
    position: int
    attempt: int


class Tracer:
    """``one_in``: 0 traces nothing."""

    def __init__(self, one_in: int) -> None:
        self._one_in = one_in
        self._second = self._listed = 0
        self._events: list[NodeEvent] = []

    def samples(self, message: int) -> bool:
        """Whether a message is traced, by its number."""
        return self._one_in > 0 and message % self._one_in == 0

    def join(self, number: int, joined: Mapping[Threshold, Iterable[str]], now: int) -> None:
        """A message has been accepted; ``joined`` has the ids of its recipients."""
        for threshold, ids in joined.items():
            clients = list(map(number_of, ids))
            if self._may(len(clients), now):
                self._events.append(Joined(number, threshold, clients))

    def begin(self, propagation: Propagation, direct: Iterable[Member], now: int) -> None:
        """Its chains are formed."""
        if not any(map(self.samples, propagation.messages)):
            return
        for chain in propagation.chains:
            self._begin_chain(propagation.number, chain, now)
        clients = _numbers(direct)
        if clients and self._may(len(clients), now):
            self._events.append(Pushed(propagation.number, DIRECT, clients))

    def _begin_chain(self, propagation: int, chain: Chain, now: int) -> None:
        chain.is_traced = self._may(len(chain.members), now)
        if chain.is_traced:
            self._events.append(Pushed(propagation, chain.push.chain, _numbers(chain.members)))

    def step(
        self, propagation: Propagation, chain: Chain, step: str, position: int, now: int, attempt: int | None = None
    ) -> None:
        """``step`` is one of ``STEPS``; by default of the latest attempt."""
        if not self._one_in:
            return
        number = propagation.number
        if not chain.is_traced and step in TROUBLE:
            self._begin_chain(number, chain, now)
        if chain.is_traced and self._may(OF_A_STEP, now):
            attempt = chain.attempt if attempt is None else attempt
            self._events.append(Stepped(now, number, chain.push.chain, step, position, attempt))

    def _may(self, size: int, now: int) -> bool:
        if now - self._second >= SECOND:
            self._second, self._listed = now, 0
        if self._listed >= LISTED_A_SECOND:
            return False
        self._listed += size
        return True

    def events(self) -> list[NodeEvent]:
        events, self._events = self._events, []
        return events


class Repeats:
    """How many repeats the clients of one process may report."""

    def __init__(self, one_in: int) -> None:
        self._left = self._most = REPEATS_A_SECOND if one_in else 0
        self._second = 0

    def allow(self, now: int) -> bool:
        if now - self._second >= SECOND:
            self._second, self._left = now, self._most
        self._left -= 1
        return self._left >= 0


def repeated(push: Push) -> list[Any]:
    """The row of ``rows.Step`` of a client that sends a push again, whose header this is."""
    return [propagation_name(push.epoch, push.propagation), push.chain, "repeated", push.position, push.attempt]


def number_of(id: str) -> int:
    """The number of a client of a workload; -1 for the id of another one."""
    digits = id.rpartition("-")[2]
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 10 else -1


def _numbers(members: Iterable[Member]) -> list[int]:
    return [number_of(member.key[1]) for member in members]
