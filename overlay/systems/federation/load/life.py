"""A client of a workload: it starts, vanishes and returns. Its core has the protocol, its kind what it does.

A client that vanished is silent. It returns as a new core, with a new registration, and its numbers go on rising.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from overlay.core.addresses import Address
from overlay.core.chance import Chance, Stream, derive_seed
from overlay.core.timers import earliest
from overlay.journal.facts import ClientFact, Sample
from overlay.systems.federation.clients.events import Event, Left
from overlay.systems.federation.clients.registering import State
from overlay.systems.federation.clients.session import Session
from overlay.systems.federation.load.arrivals import Arrivals
from overlay.systems.federation.load.plans import ClientPlan
from overlay.systems.federation.load.shared import Shared, broker_index
from overlay.systems.federation.wire.messages import Code

Core = TypeVar("Core", bound=Session)
LANE = 0
PROPER = "proper"
"""The way of vanishing that begins with UNREGISTER."""


class Life(Generic[Core]):
    peer = None
    """It may receive from any broker, and from the registration service."""

    __slots__ = (
        *("_arrivals", "_away", "_facts", "_first", "_is_over", "_lives", "_next", "_starts_at", "core"),
        *("plan", "shared"),
    )

    def __init__(self, plan: ClientPlan, shared: Shared, arrivals: Arrivals) -> None:
        self.plan, self.shared = plan, shared
        self._arrivals = arrivals.of(plan.number)
        self._next = 0
        """Place of the next one in ``_arrivals``."""
        self._starts_at: int | None = shared.windows.start + plan.starts_at(shared.workload)
        self._away = 0
        """Faults that keep it away."""
        self._is_over = False
        """Whether it was abandoned."""
        self._lives = 0
        self._first = 0
        """The smallest number for what it names next."""
        self._facts: list[ClientFact] | None = None
        self.core: Core | None = None
        """``None`` before its start and while it has vanished."""

    @property
    def identity(self) -> tuple[str, int]:
        return self.plan.role, self.plan.number

    # ---- for the kinds

    def _born(self, chance: Chance, now: int, first: int) -> Core:
        """A new core."""
        raise NotImplementedError

    def _times(self) -> Sequence[int]:
        """The times of all arrivals, ns from the start of measuring."""
        raise NotImplementedError

    def _arrive(self, number: int, intended: int, now: int) -> None:
        """An arrival is due. ``core`` may be ``None``."""
        raise NotImplementedError

    def _note(self, event: Event, now: int) -> None:
        """Something has happened to its core."""
        raise NotImplementedError

    def _end_all(self, now: int) -> None:
        """What is open has no result."""
        raise NotImplementedError

    # ---- for drivers

    def receive_datagram(self, lane: int, data: bytes, source: Address, now: int) -> bool:
        if self.core is not None:
            self.core.receive_datagrams(((data, source),), now)
            self._collect(now)
        return True

    def handle_timer(self, now: int) -> None:
        if self._starts_at is not None and self._starts_at <= now:
            self._starts_at = None
            self._begin(now)
        if self.core is not None:
            self.core.handle_timer(now)
            self._collect(now)
        while (at := self._next_arrival()) is not None and at <= now:
            self._next += 1
            self._arrive(self._arrivals[self._next - 1], at, now)
        self._collect(now)

    def next_timer(self) -> int | None:
        return earliest(self._starts_at, self._next_arrival(), None if self.core is None else self.core.next_timer())

    def datagrams_to_send(self) -> Sequence[tuple[int, bytes, Address]]:
        if self.core is None:
            return ()
        return [(LANE, data, to) for data, to in self.core.datagrams_to_send()]

    def lanes_to_close(self) -> Sequence[int]:
        return ()

    def facts(self) -> Sequence[ClientFact]:
        facts, self._facts = self._facts, None
        return facts or ()

    def abandon(self, now: int) -> None:
        self._next, self._is_over = len(self._arrivals), True
        self._end_all(now)

    def fault(self, document: Mapping[str, Any], begins: bool, now: int) -> None:
        """It vanishes, or is back."""
        if begins:
            self._away += 1
            if self._away == 1:
                self._vanish(document["way"] == PROPER, now)
        else:
            self._away -= 1
            if not self._away and self._starts_at is None:
                self._begin(now)

    # ---- its life

    @property
    def _is_done(self) -> bool:
        """Whether nothing more is intended."""
        return self._next == len(self._arrivals)

    def _next_arrival(self) -> int | None:
        if self._is_done:
            return None
        return self.shared.windows.measuring + self._times()[self._arrivals[self._next]]

    def _begin(self, now: int) -> None:
        if self._away:
            return
        self._drop(now)
        self._lives += 1
        chance = Stream(derive_seed(self.shared.seed, *self.identity, self._lives))
        self.core = self._born(chance, now, self._first)
        self.core.start(now)

    def _vanish(self, is_proper: bool, now: int) -> None:
        core = self.core
        if core is None:
            return
        if is_proper:
            core.leave(now)
            self._collect(now)
            if core.state is not State.OUT:
                self._end_all(now)
                return
        self._drop(now)

    def _drop(self, now: int) -> None:
        """At once, without a word."""
        if self.core is not None:
            self._first, self.core = self.core.next_number, None
            self._end_all(now)

    def _collect(self, now: int) -> None:
        events: Iterable[Event] = () if self.core is None else self.core.events()
        for event in events:
            self._note(event, now)
            if isinstance(event, Left):
                self._drop(now)

    # ---- facts

    def _report(self, fact: ClientFact) -> None:
        if self._facts is None:
            self._facts = []
        self._facts.append(fact)

    @property
    def broker_index(self) -> int:
        """Of the broker that serves it, or served or will serve it."""
        return self.plan.broker if self.core is None else broker_index(self.core.broker)

    def _sample(
        self, outcome: str, code: Code, tries: int, intended: int, sent: int, ended: int, entity: str, wall_ms: int
    ) -> None:
        us, tally = self.shared.us, self.shared.tally
        tally.ended(outcome, tries)
        times = us(intended), us(sent), us(ended)
        phase = self.shared.phase(intended)
        self._report(
            Sample(*self.identity, self.broker_index, phase, outcome, int(code), tries, *times, entity, wall_ms)
        )
