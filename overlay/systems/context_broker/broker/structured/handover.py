"""Moves entries when their keepers change, so that each entry stays on ``dht_replicas`` brokers.

A contact that becomes a keeper of an entry receives it. If a keeper is gone, the next closest broker receives the
entry. Every holder does this, so one remaining holder is enough. A keeper that already has the entry only acknowledges
it. Changes are collected briefly, then the table is processed in batches, with few open questions at a time. An
unanswered handover is retried a few times (``missed``). A broker that leaves sends all its entries to their next
keepers.
"""

from __future__ import annotations

from functools import partial

from overlay.core.addresses import Address
from overlay.core.node import MILLISECOND
from overlay.systems.context_broker.broker.entries import Entry
from overlay.systems.context_broker.broker.station import Station
from overlay.systems.context_broker.broker.structured.contacts import Contacts, Known, keepers_among
from overlay.systems.context_broker.broker.structured.identifiers import of_broker, of_raw_key
from overlay.systems.context_broker.broker.structured.missed import Missed, Pair
from overlay.systems.context_broker.broker.structured.questions import Answer, Questions
from overlay.systems.context_broker.broker.table import Table
from overlay.systems.context_broker.wire.codec import parse
from overlay.systems.context_broker.wire.extensions import StoreData
from overlay.systems.context_broker.wire.messages import ContextResponse, RawKey

GATHER = 200 * MILLISECOND
"""The delay from a change to processing the table, because several brokers often fail together."""
GAP = 10 * MILLISECOND
"""The time between two batches."""
BATCH = 50
"""Entries in a batch."""
MOST_OPEN = 32
TRIES = 3


class Handover:
    def __init__(self, station: Station, contacts: Contacts, questions: Questions, table: Table) -> None:
        self._station = station
        self._contacts = contacts
        self._questions = questions
        self._table = table
        self._new: set[Address] = set()
        self._again: set[Address] = set()
        """Contacts that have restarted."""
        self._gone: set[Address] = set()
        self._due: int | None = None
        self._left: list[tuple[RawKey, str]] = []
        """Entries still to be processed for the changes below."""
        self._known: list[Known] = []
        """The contacts at the start of this pass. Later changes belong to the next pass."""
        self._joined: frozenset[Address] = frozenset()
        self._lacking: frozenset[Address] = frozenset()
        self._lost: frozenset[Address] = frozenset()
        self._missed = Missed()
        self._open = 0
        self._is_leaving = False

    # ---- events

    def note_new(self, address: Address, now: int) -> None:
        """Handle a new contact."""
        if address in self._gone:
            self._gone.discard(address)
            self._again.add(address)
        else:
            self._new.add(address)
        self._gather(now)

    def note_lacking(self, address: Address, now: int) -> None:
        """Handle a contact that has restarted and so may lack all our entries."""
        self._missed.forget(address)
        if address not in self._new:
            self._again.add(address)
        self._gather(now)

    def note_gone(self, address: Address, now: int) -> None:
        """Handle the loss of a contact."""
        self._missed.forget(address)
        self._again.discard(address)
        if address in self._new:
            self._new.discard(address)
        else:
            self._gone.add(address)
        self._gather(now)

    def leave(self, now: int) -> None:
        """Hand over all entries once."""
        self._is_leaving = True
        self._missed.clear()
        self._begin()
        self._due = now

    def stay(self) -> None:
        """Cancel leaving, because the broker joins again."""
        self._is_leaving = False

    @property
    def has_given_all(self) -> bool:
        """Whether this broker is leaving and has handed over everything."""
        return self._is_leaving and not (self._left or self._open or self._missed)

    @property
    def to_give(self) -> int:
        """What a leaving broker still has to hand over: entries to look at, and copies without an answer."""
        return len(self._left) + self._open + len(self._missed) if self._is_leaving else 0

    # ---- time

    def handle_timer(self, now: int) -> None:
        self._give_again(now)
        if self._due is None or self._due > now:
            return
        self._due = None
        if not self._left:
            self._begin()
        for _ in range(min(BATCH, len(self._left))):
            if self._open >= MOST_OPEN:
                break
            self._look_at(*self._left.pop(), now)
        if self._left:
            self._due = now + GAP
        else:
            self._gather(now)

    def next_timer(self) -> int | None:
        missed = self._missed.first_due() if self._open < MOST_OPEN else None  # otherwise when a question ends
        return min((due for due in (self._due, missed) if due is not None), default=None)

    # ---- parts of the above

    def _gather(self, now: int) -> None:
        if self._due is None and (self._new or self._again or self._gone):
            self._due = now + GATHER

    def _begin(self) -> None:
        self._joined, self._lacking, self._lost = map(frozenset, (self._new, self._again, self._gone))
        for changed in (self._new, self._again, self._gone):
            changed.clear()
        self._known = self._contacts.known()
        self._left = [(entry.key, entry.provider) for entry in self._table if not entry.is_withdrawn]

    def _look_at(self, key: RawKey, provider: str, now: int) -> None:
        entry = self._held(key, provider, now)
        if entry is not None:
            for keeper in self._new_keepers(of_raw_key(key)):
                self._give(entry, keeper, now)

    def _held(self, key: RawKey, provider: str, now: int) -> Entry | None:
        """An entry to hand over; withdrawals stay, as their sender tells every broker."""
        entry = self._table.held(key, provider, self._station.wall_ms(now))
        return None if entry is None or entry.is_withdrawn else entry

    def _new_keepers(self, target: int) -> list[Address]:
        """The brokers except us that are keepers now and were not before the changes, or that lost their entries.

        An old contact was a keeper before if fewer than ``count`` of the earlier brokers were closer.
        """
        count = self._station.config.dht_replicas
        if self._is_leaving:
            return keepers_among(self._known[1:], target, count)
        keepers = keepers_among(self._known, target, count)
        lost = [of_broker(address) ^ target for address in self._lost]
        new, stayed = [], 0
        for keeper in keepers:
            rank = stayed + sum(distance < of_broker(keeper) ^ target for distance in lost)
            if keeper in self._joined or keeper in self._lacking or rank >= count:
                new.append(keeper)
            stayed += keeper not in self._joined
        return [keeper for keeper in new if keeper != self._contacts.own]

    def _give_again(self, now: int) -> None:
        while self._open < MOST_OPEN and (due := self._missed.take_due(now)) is not None:
            (keeper, key, provider), before = due
            entry = self._held(key, provider, now)
            if entry is not None:
                self._give(entry, keeper, now, before)

    def _give(self, entry: Entry, keeper: Address, now: int, before: int = 0) -> None:
        """``before``: the number of earlier attempts without an answer."""
        pair = keeper, entry.key, entry.provider
        self._missed.discard(pair)
        message, ended = StoreData(*content_of(entry)), partial(self._settle, pair, before)
        if self._questions.ask(message, keeper, now, ended, counter="dht_upkeep", tries=TRIES):
            self._open += 1
            self._station.counters["dht_handed_over"] += 1
        else:
            self._miss(pair, before, now)

    def _settle(self, pair: Pair, before: int, answer: Answer | None, now: int) -> None:
        self._open -= 1
        if answer is None and pair[0] in self._contacts:  # other components check whether it is alive
            self._miss(pair, before, now)

    def _miss(self, pair: Pair, before: int, now: int) -> None:
        if not self._missed.put(pair, before, now):
            self._station.counters["dht_given_up"] += 1

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if work is left but not scheduled."""
        assert 0 <= self._open < MOST_OPEN + self._station.config.dht_replicas
        assert self._due is not None or not (self._left or self._new or self._again or self._gone)
        self._missed.check_invariants()
        assert not (self._new & self._gone or self._new & self._again or self._again & self._gone)


def content_of(entry: Entry) -> tuple[int, str, str, str, str, int, int, bytes]:
    """The fields of a ``Record`` message."""
    response = parse(entry.response)
    assert isinstance(response, ContextResponse)
    times = response.valid_begin, response.valid_end
    return response.timestamp, response.provider_id, *response.key, *times, response.payload
