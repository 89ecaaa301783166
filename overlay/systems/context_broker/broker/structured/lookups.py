"""Runs lookups: sends their questions and passes them the answers, until each is complete or times out.

A missing answer proves nothing. A search that needs certainty continues to ask the closest brokers that do not answer,
until they answer, are known to be gone, or time runs out.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable
from functools import partial

from overlay.core.addresses import Address
from overlay.core.node import MILLISECOND
from overlay.systems.context_broker.broker.quotas import SourceShares
from overlay.systems.context_broker.broker.station import Station
from overlay.systems.context_broker.broker.structured.contacts import Contacts
from overlay.systems.context_broker.broker.structured.identifiers import of_key, to_text
from overlay.systems.context_broker.broker.structured.lookup import Lookup, State
from overlay.systems.context_broker.broker.structured.questions import Answer, Questions
from overlay.systems.context_broker.broker.structured.upkeep import Upkeep
from overlay.systems.context_broker.wire.extensions import ClosestBrokers, DataFound, FindBrokers, FindData
from overlay.systems.context_broker.wire.messages import Key


class Search:
    """A search: its target and its callbacks. ``asked`` and ``answered`` are called for each question, ``ended`` once.

    ``is_content`` returns whether doubtful brokers may be skipped.
    """

    __slots__ = ("answered", "asked", "deadline", "ended", "is_content", "key", "lookup", "payer", "wants_data")

    def __init__(
        self,
        key: Key,
        payer: Address,
        *,
        wants_data: bool,
        asked: Callable[[Address, int], None],
        answered: Callable[[Address, Answer | None, int], None],
        ended: Callable[[Lookup, int], None],
        is_content: Callable[[Lookup], bool],
    ) -> None:
        self.key = key
        self.payer = payer
        """The source whose quota of lookups it uses."""
        self.wants_data = wants_data
        """Whether brokers are asked for data (28); otherwise for brokers only (26)."""
        self.asked = asked
        self.answered = answered
        self.ended = ended
        self.is_content = is_content
        self.lookup: Lookup
        self.deadline: int

    def message(self, stamp: int) -> FindData | FindBrokers:
        return FindData(stamp, *self.key) if self.wants_data else FindBrokers(stamp, to_text(self.lookup.target))


class Lookups:
    """At most ``pending_capacity`` lookups at a time. Each ends after ``dht_deadline_ms`` at the latest."""

    def __init__(self, station: Station, contacts: Contacts, questions: Questions, upkeep: Upkeep) -> None:
        config = station.config
        self._station = station
        self._contacts = contacts
        self._questions = questions
        self._upkeep = upkeep
        self._lifetime = config.dht_deadline_ms * MILLISECOND
        self._open: OrderedDict[Search, None] = OrderedDict()
        self._shares = SourceShares(config.pending_capacity, config)

    def __len__(self) -> int:
        return len(self._open)

    def start(self, search: Search, now: int) -> bool:
        """Start a search; ``False`` if too many are active, in total or for its payer. Without contacts it ends at
        once."""
        config = self._station.config
        if len(self._open) >= config.pending_capacity:
            self._station.report_limit("pending", now)
            return False
        if not self._shares.permits(search.payer):
            self._station.counters["over_share_requests"] += 1
            self._station.report_limit("pending share", now)
            return False
        target = of_key(search.key)
        search.lookup = Lookup(target, config.dht_replicas, config.dht_parallel, self._contacts.own)
        search.lookup.offer(self._contacts.closest(target, config.dht_bucket))
        search.lookup.doubt(self._contacts.doubtful())
        search.deadline = now + self._lifetime
        self._open[search] = None
        self._shares.take(search.payer)
        self._advance(search, 1, now)
        return True

    def handle_timer(self, now: int) -> None:
        while self._open and (search := next(iter(self._open))).deadline <= now:
            self._end(search, now)

    def next_timer(self) -> int | None:
        return next(iter(self._open)).deadline if self._open else None

    def _advance(self, search: Search, round: int, now: int) -> None:
        """Ask the brokers that the lookup selects; ``round`` is the round of these questions."""
        lookup = search.lookup
        if lookup.is_complete and not search.is_content(lookup):
            lookup.insist(self._upkeep.is_gone)
        for broker in lookup.next_to_ask():
            message = search.message(self._questions.stamp(now))
            ended = partial(self._settle, search, broker, round)
            if self._questions.ask(message, broker, now, ended, counter="dht_messages"):
                lookup.rounds = max(lookup.rounds, round)
                search.asked(broker, now)
            else:
                lookup.settle(broker, State.SILENT)
        if lookup.is_complete or not lookup.in_flight:
            self._end(search, now)

    def _settle(self, search: Search, broker: Address, round: int, answer: Answer | None, now: int) -> None:
        self._upkeep.note_answer(broker, answer, now)
        lookup = search.lookup
        if isinstance(answer, ClosestBrokers | DataFound):
            lookup.settle(broker, State.ANSWERED)
            lookup.offer(b for b in answer.brokers if self._upkeep.may_ask(b))
            lookup.doubt((b for b in answer.brokers if self._upkeep.is_missed(b)), vouched=True)
        else:
            lookup.settle(broker, State.SILENT if answer is None else State.GONE)
        if search in self._open:
            search.answered(broker, answer, now)
            self._advance(search, round + 1, now)

    def _end(self, search: Search, now: int) -> None:
        del self._open[search]
        self._shares.take(search.payer, -1)
        search.ended(search.lookup, now)

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if a lookup waits without an open question."""
        assert len(self._open) <= self._station.config.pending_capacity
        self._shares.check_invariants(Counter(search.payer for search in self._open))
        deadlines = [search.deadline for search in self._open]
        assert deadlines == sorted(deadlines)
        for search in self._open:
            search.lookup.check_invariants()
            assert search.lookup.in_flight
