"""The distributed hash table as one component of a broker: handlers, timers, and answers to other brokers.

Counterpart: ``overlay.systems.context_broker.broker.broker`` replaces its handlers for codes 2, 3 and 32 with these. A
broker of an unstructured network can be a neighbour: its requests have hops and are answered along them. It answers 26
with NACK 301, so it never becomes a contact.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from overlay.core.addresses import Address
from overlay.core.node import MILLISECOND
from overlay.systems.context_broker.broker.entries import Entry
from overlay.systems.context_broker.broker.joining import Joining
from overlay.systems.context_broker.broker.members import Members
from overlay.systems.context_broker.broker.station import Station
from overlay.systems.context_broker.broker.storing import Storing
from overlay.systems.context_broker.broker.structured import identifiers
from overlay.systems.context_broker.broker.structured.contacts import Contacts
from overlay.systems.context_broker.broker.structured.getting import Getting
from overlay.systems.context_broker.broker.structured.handover import Handover, content_of
from overlay.systems.context_broker.broker.structured.lookups import Lookups
from overlay.systems.context_broker.broker.structured.putting import Putting
from overlay.systems.context_broker.broker.structured.questions import Questions
from overlay.systems.context_broker.broker.structured.upkeep import Upkeep
from overlay.systems.context_broker.wire.extensions import (
    ClosestBrokers,
    DataFound,
    DataStored,
    FindBrokers,
    FindData,
    QuietRequest,
    StoreData,
)
from overlay.systems.context_broker.wire.messages import (
    ContextRequest,
    ContextUpdateAdvertisement,
    Nack,
    Status,
    raw_key,
)
from overlay.systems.context_broker.wire.table import UNKNOWN

Handler = Callable[[Any, Address, int], bool | None]
"""Returns ``False`` for an unsolicited answer."""

SPARE_QUESTIONS = 4096
"""Open questions in addition to those of lookups: for checks of contacts and for handovers."""


class Structured:
    def __init__(self, station: Station, members: Members, joining: Joining, storing: Storing) -> None:
        config = station.config
        self._station = station
        self._members = members
        self._joining = joining
        self._storing = storing
        self.contacts = Contacts(station.address, config.dht_bucket)
        capacity = config.pending_capacity * max(config.dht_parallel, config.dht_replicas) + SPARE_QUESTIONS
        self._questions = Questions(station, capacity, config.dht_timeout_ms * MILLISECOND)
        self._handover = Handover(station, self.contacts, self._questions, storing.table)
        self._upkeep = Upkeep(station, members, self.contacts, self._questions, self._handover)
        self._lookups = Lookups(station, self.contacts, self._questions, self._upkeep)
        self._putting = Putting(station, self.contacts, self._questions, self._lookups, self._upkeep, storing)
        self._getting = Getting(station, joining, self.contacts, self._lookups, self._upkeep, storing.table)

    def __len__(self) -> int:
        """The number of active lookups."""
        return len(self._lookups)

    @property
    def to_give(self) -> tuple[int, int, int]:
        """As ``Broker.to_give``."""
        left, entries = self._handover.to_give, self._storing.table.entries
        return (left, max(entries - left, 0), 0) if self._joining.has_left else (0, 0, 0)

    def accept_nack(self, nack: Nack, source: Address, now: int) -> bool:
        """Whether it refuses one of our questions."""
        return self._questions.accept_nack(nack, source, now)

    # ---- time

    def handle_timer(self, now: int) -> None:
        """Run due timers. Call it after the components that may change the neighbours."""
        if self._upkeep.is_behind:
            self._follow(now)
        for part in (self._questions, self._lookups, self._upkeep, self._handover):
            part.handle_timer(now)
        if self._handover.has_given_all and len(self.contacts):
            self._upkeep.stop()

    def next_timer(self) -> int | None:
        """The next time to run timers; 0, that is immediately, if the neighbours have changed."""
        if self._upkeep.is_behind:
            return 0
        parts = (self._questions, self._lookups, self._upkeep, self._handover)
        return min((time for part in parts if (time := part.next_timer()) is not None), default=None)

    def _follow(self, now: int) -> None:
        if self._joining.has_left:
            self._handover.leave(now)
        else:
            self._handover.stay()
        self._upkeep.follow(now)

    # ---- questions of other brokers

    def _tell_brokers(self, question: FindBrokers, source: Address, now: int) -> None:
        if self._serves(source, question.timestamp, now):
            closest = self._closest(identifiers.from_text(question.target), source)
            self._station.send_message(ClosestBrokers(question.timestamp, question.target, closest), source, now)
            self._upkeep.heard_question(source, question.is_new, now)

    def _tell_data(self, question: FindData, source: Address, now: int) -> None:
        if not self._serves(source, question.timestamp, now):
            return
        target = identifiers.of_key(question.key)
        closest = self._closest(target, source)
        entry = self._storing.table.find(raw_key(question.key), self._station.wall_ms(now))
        if entry is None:
            answer = ClosestBrokers(question.timestamp, identifiers.to_text(target), closest)
            self._station.send_message(answer, source, now)
        else:
            self._station.send_message(DataFound(*content_of(entry), closest), source, now)
        self._upkeep.heard_question(source, False, now)

    def _keep(self, record: StoreData, source: Address, now: int) -> None:
        station = self._station
        if not self._serves(source, record.timestamp, now, neighbours_too=False):
            return
        if self._storing.is_from_the_future(record.timestamp, now):
            station.counters["rejected_stamp"] += 1
            station.nack(Status.BAD_REQUEST, UNKNOWN, record.timestamp, source, now)
        elif self._putting.keep(Entry.of(record), now):
            station.send_message(DataStored(record.timestamp, record.provider_id, *record.key), source, now)
        else:
            station.nack(Status.I_ERROR, UNKNOWN, record.timestamp, source, now)
        self._upkeep.heard_question(source, False, now)

    def _closest(self, target: int, asker: Address) -> tuple[Address, ...]:
        return tuple(self.contacts.closest(target, self._station.config.dht_bucket, but=asker))

    def _serves(self, source: Address, stamp: int, now: int, *, neighbours_too: bool = True) -> bool:
        """Whether we answer; otherwise it gets a NACK. A broker that has left answers none and is soon forgotten."""
        station = self._station
        known = station.open_network.trusts(source) or (neighbours_too and source in self._members)
        if known and not self._joining.has_left:
            return True
        station.counters["rejected_command"] += not known
        if station.open_network.refusals.permits(source, now):
            station.nack(Status.BAD_REQUEST, UNKNOWN, stamp, source, now)
        return False

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if a component is inconsistent."""
        parts = (self.contacts, self._questions, self._lookups, self._upkeep, self._handover, self._getting)
        for part in parts:
            part.check_invariants()


HANDLERS: dict[type, Callable[[Structured], Handler]] = {
    ContextUpdateAdvertisement: lambda arm: arm._putting.handle_update,
    ContextRequest: lambda arm: arm._getting.handle_request,
    QuietRequest: lambda arm: arm._getting.handle_request,
    FindBrokers: lambda arm: arm._tell_brokers,
    FindData: lambda arm: arm._tell_data,
    StoreData: lambda arm: arm._keep,
    ClosestBrokers: lambda arm: arm._questions.accept_brokers,
    DataFound: lambda arm: arm._questions.accept_data,
    DataStored: lambda arm: arm._questions.accept_stored,
}
"""Handlers by message. They replace those of the unstructured network."""
