"""The facts of a run that its measures are made of."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from overlay.journal.facts import Event, Fact, Row, Start, Tick
from overlay.systems.federation.rows import TABLES, Noted, Notified, Queried, Subscribed

MEASURING, DRAINING = "measuring", "draining"
"""Phases of a run."""
LATE_US = 500_000
"""How late a live supervisor may say that measuring has begun. Clients subscribe and publish nothing just before."""


@dataclass(slots=True)
class Facts:
    """Times are µs since the zero of the deployment."""

    zero_unix_us: int = 0
    subscriptions: list[Subscribed] = field(default_factory=list)
    notes: list[Noted] = field(default_factory=list)
    notifies: list[Notified] = field(default_factory=list)
    queries: list[Queried] = field(default_factory=list)
    ticks: dict[str, list[Tick]] = field(default_factory=lambda: defaultdict(list))
    """By process."""
    events: list[Event] = field(default_factory=list)
    """All but the begins of phases."""
    phases: dict[str, int] = field(default_factory=dict)
    """The begin of each phase."""

    @classmethod
    def of(cls, facts: Iterable[Fact]) -> Facts:
        found = cls()
        for fact in facts:
            found.add(fact)
        return found

    def add(self, fact: Fact) -> None:
        if isinstance(fact, Row):
            self.add_row(TABLES[fact.table](*fact.values))
        elif isinstance(fact, Tick):
            self.ticks[fact.process].append(fact)
        elif isinstance(fact, Event):
            self._add_event(fact)
        elif isinstance(fact, Start):
            self.zero_unix_us = self.zero_unix_us or fact.zero_unix_us

    def _add_event(self, event: Event) -> None:
        if event.name == "phase":
            self.phases.setdefault(event.detail["phase"], event.at_us)
        else:
            self.events.append(event)

    def add_row(self, row: Any) -> None:
        """A row of ``rows.TABLES``. Steps of brokers and replies of providers are of no measure."""
        if type(row) in self._of_clients:
            self._of_clients[type(row)].append(row)

    @property
    def _of_clients(self) -> Mapping[type, list[Any]]:
        return {
            Subscribed: self.subscriptions,
            Noted: self.notes,
            Notified: self.notifies,
            Queried: self.queries,
        }

    @property
    def begin_us(self) -> int:
        """The start of measuring; 0 if it is unknown."""
        return self.phases.get(MEASURING, 0)

    @property
    def end_us(self) -> float:
        """The end of draining, when processes are ended; infinite if it is unknown."""
        started = self.phases.get(DRAINING, self.begin_us)
        later = [at for phase, at in self.phases.items() if at >= started and phase not in (MEASURING, DRAINING)]
        return min(later, default=float("inf"))

    def expires_us(self, subscription: Subscribed) -> int:
        return subscription.expires_ms * 1000 - self.zero_unix_us

    @property
    def measured(self) -> list[Subscribed]:
        """The subscriptions that were intended while measuring."""
        return [one for one in self.subscriptions if one.intended_us >= self.begin_us - LATE_US]

    @property
    def asked(self) -> list[Queried]:
        """The QUERYs that were intended while measuring."""
        return [one for one in self.queries if one.intended_us >= self.begin_us - LATE_US]

    @property
    def published(self) -> list[Noted]:
        """Notifications that were published while measuring and that a broker accepted."""
        return [one for one in self.notes if one.published_us >= self.begin_us - LATE_US and one.accepted_us]
