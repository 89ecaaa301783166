"""Updates and advertisements (2): stored on the keepers of their key (30), which may include this broker.

The provider gets 102 when more than half of the keepers have confirmed. If some cannot be reached, it gets 102 when at
least one has confirmed and the others are given up, or NACK 201 if none has. Keepers that did not answer the lookup
also receive the update, in addition to the next closest brokers, because requests will ask them if they are alive. A
keeper that does not confirm receives it a few more times after the provider has its answer.
"""

from __future__ import annotations

from functools import partial

from overlay.core.addresses import Address
from overlay.systems.context_broker.broker.entries import Entry
from overlay.systems.context_broker.broker.station import Station
from overlay.systems.context_broker.broker.storing import Storing
from overlay.systems.context_broker.broker.structured.contacts import Contacts
from overlay.systems.context_broker.broker.structured.lookup import Lookup
from overlay.systems.context_broker.broker.structured.lookups import Lookups, Search
from overlay.systems.context_broker.broker.structured.questions import Answer, Questions
from overlay.systems.context_broker.broker.structured.upkeep import Upkeep
from overlay.systems.context_broker.wire.extensions import DataStored, StoreData
from overlay.systems.context_broker.wire.messages import ContextUpdateAdvertisement, Status
from overlay.systems.context_broker.wire.table import OPERATIONS

UPDATE = OPERATIONS[2]
TRIES = 3
"""Attempts before a provider repeats its update. At 30 % loss a keeper then lacks one update in 37."""
MORE_TRIES = 9
"""Attempts after that until it confirms. With these it lacks one update in two million."""


class Put:
    """One update: its keepers, how many of them and of all brokers have stored it, and how many have not answered."""

    __slots__ = ("confirmed", "due", "is_told", "kept", "open", "source", "update")

    def __init__(self, update: ContextUpdateAdvertisement, source: Address) -> None:
        self.update = update
        self.source = source
        self.due: frozenset[Address] = frozenset()
        self.confirmed = 0
        self.kept = 0
        self.open = 0
        self.is_told = False

    @property
    def record(self) -> StoreData:
        update = self.update
        times = update.valid_begin, update.valid_end
        return StoreData(update.timestamp, update.provider_id, *update.key, *times, update.payload)


class Putting:
    def __init__(
        self,
        station: Station,
        contacts: Contacts,
        questions: Questions,
        lookups: Lookups,
        upkeep: Upkeep,
        storing: Storing,
    ) -> None:
        self._station = station
        self._contacts = contacts
        self._questions = questions
        self._lookups = lookups
        self._upkeep = upkeep
        self._storing = storing

    def handle_update(self, update: ContextUpdateAdvertisement, source: Address, now: int) -> None:
        station = self._station
        if self._storing.is_from_the_future(update.timestamp, now):
            station.counters["rejected_stamp"] += 1
            station.nack(Status.BAD_REQUEST, UPDATE, update.timestamp, source, now)
            return
        station.ack(Status.REQ_RECEIVED, UPDATE, source, now)
        if update.valid_end <= station.wall_ms(now):
            station.counters["outdated"] += 1
            station.ack(Status.REQ_PROCESSED, UPDATE, source, now)
            return
        put = Put(update, source)
        search = Search(
            update.key,
            station.payer(source),
            wants_data=False,
            asked=lambda *_: None,
            answered=lambda *_: None,
            ended=lambda lookup, now: self._store(put, lookup, now),
            is_content=lambda lookup: True,
        )
        if not self._lookups.start(search, now):
            station.nack(Status.I_ERROR, UPDATE, update.timestamp, source, now)

    def keep(self, entry: Entry, now: int) -> bool:
        """Store it in our own table by the rules of updates; whether it or a newer one is stored now."""
        stored = self._storing.store(entry, now)
        self._station.counters[stored.value] += 1
        return not stored.is_refused

    def _store(self, put: Put, lookup: Lookup, now: int) -> None:
        keepers = *lookup.closest(), *lookup.in_doubt()
        put.due = frozenset(lookup.due())
        put.open = len(keepers)
        for keeper in keepers:
            if keeper == self._contacts.own:
                entry = Entry.of(put.update)
                entry.source = self._station.payer(put.source)
                self._settle(put, keeper, self.keep(entry, now), now)
            else:
                self._ask(put, keeper, now)

    def _ask(self, put: Put, keeper: Address, now: int) -> None:
        ended = partial(self._settle_question, put, keeper)
        if not self._questions.ask(put.record, keeper, now, ended, counter="dht_messages", tries=TRIES):
            self._settle(put, keeper, False, now)

    def _settle_question(self, put: Put, keeper: Address, answer: Answer | None, now: int) -> None:
        if answer is None:
            self._upkeep.doubt(keeper, now)
            self._questions.ask(put.record, keeper, now, lambda *_: None, counter="dht_upkeep", tries=MORE_TRIES)
        self._settle(put, keeper, isinstance(answer, DataStored), now)

    def _settle(self, put: Put, keeper: Address, is_kept: bool, now: int) -> None:
        put.open -= 1
        put.kept += is_kept
        put.confirmed += is_kept and keeper in put.due
        if put.is_told:
            return
        if 2 * put.confirmed > len(put.due) or (put.kept and not put.open):
            put.is_told = True
            self._station.ack(Status.REQ_PROCESSED, UPDATE, put.source, now)
        elif not put.open:
            self._station.nack(Status.I_ERROR, UPDATE, put.update.timestamp, put.source, now)
