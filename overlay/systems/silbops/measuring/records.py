"""The facts of a run that its measures are made of."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from overlay.core.processes import role_of
from overlay.journal.facts import Event, Fact, HandOver, Row, Tick
from overlay.systems.silbops.content.filters import read_filter
from overlay.systems.silbops.load.plans import client_name
from overlay.systems.silbops.measuring.oracle import Arrival
from overlay.systems.silbops.measuring.processed import LIVE_US, ProcessedTimes
from overlay.systems.silbops.measuring.states import Change, Offer, Wanted
from overlay.systems.silbops.measuring.truth import Publication
from overlay.systems.silbops.names import BROKER
from overlay.systems.silbops.rows import (
    TABLES,
    Advertised,
    ContextSet,
    Delivered,
    Limits,
    Processed,
    Published,
    Refused,
    Served,
    Subscribed,
    Told,
    Unadvertised,
    Unsubscribed,
)
from overlay.systems.silbops.scope.text import parse

MEASURING, DRAINING = "measuring", "draining"
"""Phases of a run."""
LATE_US = 500_000
"""How late a live supervisor may say that measuring has begun. Clients do nothing just before."""


@dataclass(slots=True)
class Facts:
    """Times are µs since the zero of the deployment."""

    rows: dict[type, list[Any]] = field(default_factory=lambda: defaultdict(list))
    ticks: dict[str, list[Tick]] = field(default_factory=lambda: defaultdict(list))
    """By process."""
    events: list[Event] = field(default_factory=list)
    """All but the begins of phases."""
    moves: int = 0
    phases: dict[str, int] = field(default_factory=dict)
    """The begin of each phase."""
    keys: dict[str, str] = field(default_factory=dict)
    """The client of each key of a publisher."""

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
        elif isinstance(fact, HandOver):
            self.moves += 1
        elif isinstance(fact, Event):
            self._add_event(fact)

    def add_row(self, row: Any) -> None:
        """A row of ``rows.TABLES``."""
        self.rows[type(row)].append(row)

    def _add_event(self, event: Event) -> None:
        if event.name == "phase":
            self.phases.setdefault(event.detail["phase"], event.at_us)
            return
        self.events.append(event)
        if event.name == "ClientAttached" and "publisher" in event.detail:
            self.keys[event.detail["publisher"]] = client_name(bytes.fromhex(event.detail["client"]))

    # ---- when

    @property
    def begin_us(self) -> int:
        """The start of measuring; 0 if it is unknown."""
        return self.phases.get(MEASURING, 0)

    @property
    def measured_us(self) -> float:
        """The end of measuring; infinite if it is unknown."""
        return self.phases.get(DRAINING, float("inf"))

    @property
    def end_us(self) -> float:
        """The end of draining, when processes are ended; infinite if it is unknown."""
        started = self.phases.get(DRAINING, self.begin_us)
        later = [at for phase, at in self.phases.items() if at >= started and phase not in (MEASURING, DRAINING)]
        return min(later, default=float("inf"))

    def is_measured(self, intended_us: int) -> bool:
        return intended_us >= self.begin_us - LATE_US

    @property
    def brokers(self) -> list[str]:
        return sorted(process for process in self.ticks if role_of(process) == BROKER)

    # ---- what

    @property
    def limits(self) -> Limits:
        return next(iter(self.rows[Limits]), Limits(0, 0, False, []))

    @property
    def has_ended_rows(self) -> bool:
        """Whether the validity of any ended while measuring."""
        return any(one.name == "ValidityEnded" and one.at_us >= self.begin_us for one in self.events)

    def served(self) -> dict[str, list[Served]]:
        found = defaultdict(list)
        for one in self.rows[Served]:
            found[one.client].append(one)
        return found

    def times(self) -> ProcessedTimes:
        return ProcessedTimes(self.rows[Processed], self.rows[Told])

    def subscribers(self, times: ProcessedTimes) -> dict[str, list[Change[Wanted]]]:
        found: dict[str, list[Change[Wanted]]] = defaultdict(list)
        for one in self.rows[Subscribed]:
            row = Wanted(read_filter(json.loads(one.filter)), parse(one.scope) if one.scope else None)
            found[one.client].append(Change(one.called_us, one.called_us + LIVE_US, id=one.id, row=row))
        for one in self.rows[Unsubscribed]:
            found[one.client].append(Change(one.called_us, one.called_us + LIVE_US, id=one.id))
        for client, ended in self._ended("subscriptions"):
            found[client].append(ended)
        for client, change in self._contexts(times):
            if client in found:
                found[client].append(change)
        return found

    def publishers(self) -> dict[str, list[Change[Offer]]]:
        """Their contexts, too, as of the instant: brokers learn of them with the next publication."""
        found: dict[str, list[Change[Offer]]] = defaultdict(list)
        for one in self.rows[Advertised]:
            readable = frozenset(one.subscriber_variables) if one.subscriber_variables else None
            row = Offer(read_filter(json.loads(one.filter)), frozenset(one.variables), readable)
            found[one.client].append(Change(one.called_us, one.called_us + LIVE_US, id=one.id, row=row))
        for one in self.rows[Unadvertised]:
            found[one.client].append(Change(one.called_us, one.called_us + LIVE_US, id=one.id))
        for client, ended in self._ended("advertisements"):
            found[client].append(ended)
        for one in self.rows[ContextSet]:
            if one.client in found:
                values = json.loads(one.values)
                found[one.client].append(Change(one.called_us, one.called_us + LIVE_US, context=values))
        return found

    def publications(self, times: ProcessedTimes) -> list[Publication]:
        """Those of measuring."""
        refused = {(one.client, one.number) for one in self.rows[Refused]}
        keys = {client: key for key, client in self.keys.items()}
        return [
            Publication(
                one.client,
                one.number,
                json.loads(one.notification),
                json.loads(one.context),
                parse(one.scope) if one.scope else None,
                one.intended_us,
                one.called_us,
                times.of_publication(keys.get(one.client, ""), one.number, one.called_us),
                (one.client, one.number) in refused,
                parse(one.meant_for) if one.meant_for else None,
            )
            for one in self.rows[Published]
            if self.is_measured(one.intended_us)
        ]

    def arrivals(self) -> list[Arrival]:
        """Those of publications of measuring, and of unknown ones."""
        earlier = {(one.client, one.number) for one in self.rows[Published] if not self.is_measured(one.intended_us)}
        several = (
            Arrival(one.client, (self.keys.get(one.publisher, one.publisher), one.number), one.received_us)
            for one in self.rows[Delivered]
        )
        return [one for one in several if one.publication not in earlier]

    def changes(self) -> list[ContextSet]:
        """New contexts of subscribers, of measuring."""
        subscribers = {one.client for one in self.rows[Subscribed]}
        return [
            one
            for one in self.rows[ContextSet]
            if one.is_new and one.client in subscribers and self.is_measured(one.intended_us)
        ]

    def _ended(self, table: str) -> Iterator[tuple[str, Change[Any]]]:
        """What brokers removed when its validity was over. Their ids are those on the wire: in the siena arm, those of
        subscriptions that were replaced are none of an application's, and such an end is not known.
        """
        for one in self.events:
            if one.name == "ValidityEnded" and one.detail["table"] == table:
                client = client_name(bytes.fromhex(one.detail["client"]))
                yield client, Change(one.at_us, one.at_us + LIVE_US, id=one.detail["id"])

    def _contexts(self, times: ProcessedTimes) -> Iterator[tuple[str, Change[Any]]]:
        keys = {client: key for key, client in self.keys.items()}
        for one in self.rows[ContextSet]:
            processed = times.of_call(keys.get(one.client, ""), one.called_us, one.accepted_us)
            yield one.client, Change(one.called_us, processed, context=json.loads(one.values))
