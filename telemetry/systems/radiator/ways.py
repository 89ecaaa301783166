"""One message's complete way: called, accepted, queued, emitted, pushed hop by hop, delivered or not. Pure.

Counterparts: ``way_files`` reads the records of a run, ``messages`` has a row for each message. Who received it when is
known of every message. Queues, members of chains and their repairs are known if it was traced, and of chains that had
trouble. All processes of a run share one zero, so that times can be compared. Nothing is guessed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from overlay.systems.radiator.tracing import DIRECT, TROUBLE

DELIVERED, RETAINED, IN_FLIGHT, FAILED, UNTRACED = "delivered", "retained", "in flight", "failed", "not traced"
"""States of a recipient, next to the reasons of ``overlay.systems.radiator.chains.propagation.Outcome``."""
NEVER = 1 << 62


class Arrival(NamedTuple):
    """The first callback of a client with the message."""

    at_us: int
    is_from_server: bool
    """Else from the client before it in the chain."""


class Step(NamedTuple):
    """A step of a chain (``overlay.systems.radiator.tracing.STEPS``)."""

    at_us: int
    step: str
    position: int
    attempt: int


@dataclass(slots=True)
class Records:
    """The records of one message."""

    row: Mapping[str, Any]
    """As in ``messages.SCHEMA``."""
    queues: Sequence[tuple[str, Sequence[int]]] = ()
    """Results of the aggregability, and the clients for whom it joined each queue."""
    propagations: Sequence[Mapping[str, Any]] = ()
    """Rows of the server's table, those that hold it."""
    members: Mapping[str, Mapping[int, Sequence[int]]] = field(default_factory=dict)
    """By propagation and chain; ``DIRECT`` for direct pushes."""
    steps: Mapping[tuple[str, int], Sequence[Step]] = field(default_factory=dict)
    """By propagation and chain, in chronological order."""
    missed: Mapping[int, tuple[str, str]] = field(default_factory=dict)
    """By client: why it did not get it, and the propagation; empty if the message was pending."""
    arrivals: Mapping[int, Arrival] = field(default_factory=dict)
    """By client."""
    names: Mapping[int, str] = field(default_factory=dict)
    """The ids of the messages in its propagations, by number."""


@dataclass(frozen=True, slots=True)
class Hop:
    """A member of a chain."""

    position: int
    client: int
    state: str
    received_us: int | None
    took_us: int | None
    """From the push: the client before it forwards at once; ``None`` if unknown."""
    is_from_server: bool
    steps: Sequence[Step]
    """Of this position."""

    @property
    def is_marked(self) -> bool:
        """Whether anything but a plain forwarding happened here."""
        plain = self.state == DELIVERED and self.is_from_server == any(one.step == "injected" for one in self.steps)
        return not plain or any(one.step in MARKED or (one.step == "injected" and one.attempt) for one in self.steps)


MARKED = TROUBLE | {"repeated", "direct"}


@dataclass(frozen=True)
class Chain:
    """A chain of one propagation."""

    number: int
    clients: Sequence[int]
    steps: Sequence[Step]
    records: Records
    emitted_us: int

    @property
    def repairs(self) -> int:
        """Further injections and direct pushes."""
        return sum((one.step == "injected" and one.attempt > 0) or one.step == "direct" for one in self.steps)

    @property
    def failures(self) -> int:
        """Positions that did not acknowledge or were passed over."""
        return len({one.position for one in self.steps if one.step in ("failed", "unanswered", "passed over")})

    @property
    def repeats(self) -> int:
        """Pushes that were sent again without an acknowledgement."""
        return sum(one.step == "repeated" for one in self.steps)

    @property
    def is_troubled(self) -> bool:
        return any(one.step in TROUBLE for one in self.steps)

    @cached_property
    def delivered(self) -> int:
        return sum(client in self.records.arrivals for client in self.clients)

    @cached_property
    def ended_us(self) -> int | None:
        """The last callback."""
        arrivals = self.records.arrivals
        return max((arrivals[client].at_us for client in self.clients if client in arrivals), default=None)

    @cached_property
    def hops(self) -> list[Hop]:
        at: dict[int, list[Step]] = defaultdict(list)
        for step in self.steps:
            at[step.position].append(step)
        found, before = [], None
        for position, client in enumerate(self.clients):
            arrival = self.records.arrivals.get(client)
            hop = self._hop(position, client, arrival, before, at.get(position, ()))
            before = None if arrival is None else arrival.at_us
            found.append(hop)
        return found

    def _hop(
        self, position: int, client: int, arrival: Arrival | None, before: int | None, steps: Sequence[Step]
    ) -> Hop:
        if arrival is None:
            return Hop(position, client, state_of(self.records, client), None, None, False, steps)
        sent = self._pushed_us(steps, arrival.at_us) if arrival.is_from_server else before
        took = arrival.at_us - sent if sent is not None and sent <= arrival.at_us else None
        return Hop(position, client, DELIVERED, arrival.at_us, took, arrival.is_from_server, steps)

    def _pushed_us(self, steps: Sequence[Step], received_us: int) -> int:
        """When the server's push that arrived left."""
        sent = [one.at_us for one in steps if one.step in ("injected", "left", "direct") and one.at_us <= received_us]
        return max(sent, default=self.emitted_us)


@dataclass(frozen=True)
class Propagation:
    """An aggregate that holds the message."""

    name: str
    emitted_us: int
    messages: Sequence[int]
    """Numbers of its originals, oldest first."""
    recipients: int
    pushes: int
    chain_count: int
    records: Records

    @property
    def number(self) -> int:
        """Within the life of the server."""
        return int(self.name.rpartition("-")[2])

    @cached_property
    def direct(self) -> Sequence[int]:
        """The recipients of direct pushes, if they were traced."""
        return self.records.members.get(self.name, {}).get(DIRECT, ())

    @cached_property
    def chains(self) -> list[Chain]:
        """Those that were traced; the ones with trouble first."""
        members = self.records.members.get(self.name, {})
        found = [
            Chain(number, clients, self.records.steps.get((self.name, number), ()), self.records, self.emitted_us)
            for number, clients in members.items()
            if number != DIRECT
        ]
        return sorted(found, key=lambda one: (not one.is_troubled, one.number))

    @property
    def is_troubled(self) -> bool:
        return any(chain.is_troubled for chain in self.chains)


class Group(NamedTuple):
    """Recipients for whom it joined the same queue and left in the same propagation, or did not leave."""

    queue: str
    propagation: Propagation | None
    state: str
    """Empty with a propagation; else why there is none."""
    recipients: int
    delivered: int


class Undelivered(NamedTuple):
    """A recipient that did not get it."""

    client: int
    state: str
    propagation: str
    """Its name; empty if the message was pending."""


@dataclass(frozen=True)
class Way:
    """All of the above, of one message."""

    records: Records

    @property
    def row(self) -> Mapping[str, Any]:
        return self.records.row

    @cached_property
    def propagations(self) -> list[Propagation]:
        """In order of emission."""
        found = [
            Propagation(
                one["name"],
                one["at_us"],
                one["messages"],
                one["recipients"],
                one["pushes"],
                one["chains"],
                self.records,
            )
            for one in self.records.propagations
        ]
        return sorted(found, key=lambda one: one.emitted_us)

    @cached_property
    def groups(self) -> list[Group]:
        """By queue and propagation; none if the message was not traced."""
        of = _propagations_of(self.propagations)
        counts: Counter[tuple[str, str, str]] = Counter()
        delivered: Counter[tuple[str, str, str]] = Counter()
        for queue, clients in self.records.queues:
            for client in clients:
                name = of.get(client) or self.records.missed.get(client, ("", ""))[1]
                key = queue, name, "" if name else self._left_by(client)
                counts[key] += 1
                delivered[key] += client in self.records.arrivals
        by_name = {one.name: one for one in self.propagations}
        found = [
            Group(queue, by_name.get(name), state, recipients, delivered[queue, name, state])
            for (queue, name, state), recipients in counts.items()
        ]
        return sorted(found, key=lambda one: (one.propagation.emitted_us if one.propagation else NEVER, one.queue))

    def _left_by(self, client: int) -> str:
        return UNTRACED if client in self.records.arrivals else state_of(self.records, client, RETAINED)

    @cached_property
    def undelivered(self) -> list[Undelivered]:
        """Recipients without a callback; of a message that was not traced, only those with a known reason."""
        of, records = _propagations_of(self.propagations), self.records
        queued = (client for _, clients in records.queues for client in clients)
        found = []
        for client in sorted({*of, *queued, *records.missed} - {*records.arrivals}):
            name = of.get(client) or records.missed.get(client, ("", ""))[1]
            state = state_of(records, client, IN_FLIGHT if name else RETAINED)
            found.append(Undelivered(client, state, name))
        return found


def state_of(records: Records, client: int, otherwise: str = IN_FLIGHT) -> str:
    """What became of a recipient."""
    if client in records.arrivals:
        return DELIVERED
    return records.missed.get(client, (otherwise, ""))[0]


def _propagations_of(propagations: Sequence[Propagation]) -> dict[int, str]:
    """By client, the propagation that holds the message for it."""
    members = (
        (one.name, clients) for one in propagations for clients in one.records.members.get(one.name, {}).values()
    )
    return {client: name for name, clients in members for client in clients}
