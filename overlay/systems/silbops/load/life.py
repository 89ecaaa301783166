"""A client of a workload, from its start to the end of the run. Its core has the protocol, its kind what it does."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from overlay.core.addresses import Address
from overlay.core.chance import Stream, derive_seed
from overlay.core.timers import earliest
from overlay.journal.facts import ClientFact, Sample
from overlay.systems.silbops.clients.client import Client
from overlay.systems.silbops.clients.events import Connected, Detached, Event, GaveUp, Lost, Rejected
from overlay.systems.silbops.load.plans import ClientPlan
from overlay.systems.silbops.load.shared import Shared, broker_index
from overlay.systems.silbops.rows import Refused, Served, row

LANE = 0


class Life:
    peer = None
    """It may receive from any broker."""

    def __init__(self, plan: ClientPlan, shared: Shared) -> None:
        self.plan, self.shared = plan, shared
        self._starts_at: int | None = shared.windows.start + plan.starts_at(shared.workload)
        self._is_over = False
        """Whether it was abandoned."""
        self._facts: list[ClientFact] = []
        self._served: tuple[int, int] | None = None
        """The broker that serves it, and since when (µs)."""
        chance = Stream(derive_seed(shared.seed, *self.identity))
        wire = shared.make_wire(plan.id, chance)
        self.core = Client(shared.terms, plan.id, wire, shared.windows.zero)

    @property
    def identity(self) -> tuple[str, int]:
        return self.plan.role, self.plan.number

    @property
    def name(self) -> str:
        return self.plan.name

    # ---- for the kinds

    @property
    def is_finished(self) -> bool:
        raise NotImplementedError

    def _begin(self, now: int) -> None:
        """It has begun to attach: set what it sets."""
        raise NotImplementedError

    def _next_own(self) -> int | None:
        raise NotImplementedError

    def _act(self, now: int) -> None:
        """``_next_own`` has come: do one thing."""
        raise NotImplementedError

    def _note(self, event: Event, now: int) -> None:
        """Something has happened to its core."""
        if isinstance(event, Rejected):
            refused = Refused(self.name, event.call, int(event.code), event.words, self.shared.us(now))
            self.report_row(now, refused)

    def _stop(self, now: int) -> None:
        """The run is over: what is open has no result."""

    # ---- for drivers

    def receive_datagram(self, lane: int, data: bytes, source: Address, now: int) -> bool:
        self.core.receive_datagrams(((data, source),), now)
        self._collect(now)
        return True

    def handle_timer(self, now: int) -> None:
        if self._starts_at is not None and self._starts_at <= now:
            self._starts_at = None
            self.core.attach(self.shared.site(self.plan.broker), now)
            self._begin(now)
        self.core.handle_timer(now)
        self._collect(now)
        due = self._next_own()
        if due is not None and due <= now:  # one thing: then it is the turn of others that are due
            self._act(now)
            self._collect(now)

    def next_timer(self) -> int | None:
        return earliest(self._starts_at, self._next_own(), self.core.next_timer())

    def datagrams_to_send(self) -> Sequence[tuple[int, bytes, Address]]:
        return [(LANE, data, to) for data, to in self.core.datagrams_to_send()]

    def lanes_to_close(self) -> Sequence[int]:
        return ()

    def facts(self) -> Sequence[ClientFact]:
        facts, self._facts = self._facts, []
        return facts

    def abandon(self, now: int) -> None:
        if not self._is_over:
            self._is_over = True
            self._stop(now)
            self._end_service("", 0)

    # ---- what it reports

    @property
    def broker_index(self) -> int:
        """Of the broker that serves it, or will."""
        return broker_index(self.core.site.broker) if self.core.site.broker else self.plan.broker

    def _collect(self, now: int) -> None:
        for event in self.core.events():
            if isinstance(event, Connected):
                self._end_service("moved", now)
                self._served = broker_index(event.broker), self.shared.us(now)
            elif isinstance(event, Lost):
                self._end_service(event.reason, now)
            elif isinstance(event, Detached | GaveUp):
                self._end_service("detached", now)
            self._note(event, now)

    def _end_service(self, reason: str, now: int) -> None:
        """``now`` is 0 if the run ends first."""
        if self._served is not None:
            broker, since = self._served
            until = self.shared.us(now) if now else 0
            self.report_row(now, Served(self.name, broker, since, until, reason))
            self._served = None

    def report_row(self, now: int, value: Any) -> None:
        self._facts.append(row(self.shared.us(now) if now else 0, value))

    def _sample(self, outcome: str, status: int, intended: int, sent: int, ended: int, entity: str) -> None:
        us = self.shared.us
        times = us(intended), us(sent), us(ended)
        phase = self.shared.phase(intended)
        self._facts.append(Sample(*self.identity, self.broker_index, phase, outcome, status, 1, *times, entity, 0))


def as_json(values: Mapping[str, Any] | Sequence[Any]) -> str:
    return json.dumps(values, separators=(",", ":"), ensure_ascii=False)
