"""Finds, checks and removes contacts.

A broker becomes a contact only after it has answered a question (26) itself. We ask our neighbours, brokers that ask
us, and brokers named in answers, while their buckets have room. A new contact is asked for the brokers closest to *us*,
and then those are asked: this is a joining broker's lookup of itself. A contact not seen for ``dht_refresh_ms`` is
asked again, for brokers close to us or close to a random identifier::

    neighbour ─┐                 ┌─ answered ──> contact ── silent for a while, or owes an answer ──┐
    asker ─────┼─> 26, a few times                 ^                                     26, a few times
    named ─────┘                 └─ silent ──> gone, not asked for a while   <── silent ────────────┘
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from functools import partial

from overlay.core.addresses import Address
from overlay.core.node import MILLISECOND
from overlay.systems.context_broker.broker.members import Members
from overlay.systems.context_broker.broker.station import Station
from overlay.systems.context_broker.broker.structured import identifiers
from overlay.systems.context_broker.broker.structured.contacts import Contacts, Known
from overlay.systems.context_broker.broker.structured.handover import Handover
from overlay.systems.context_broker.broker.structured.questions import Answer, Questions
from overlay.systems.context_broker.wire.extensions import ClosestBrokers, DataFound, FindBrokers
from overlay.systems.context_broker.wire.messages import Nack

MOST_STRANGERS = 64
"""Maximum unknown brokers that are checked at a time."""
STRANGER_TRIES = 2
CONTACT_TRIES = 4
"""Attempts of a check. At 10 % loss each way, all four are lost once in 770 checks."""
MOST_GONE = 1024
GONE_FOR = 6
"""Refresh intervals during which a broker that did not answer is not asked because others name it. Others need up to
two intervals to notice that it is gone."""


class Upkeep:
    def __init__(
        self, station: Station, members: Members, contacts: Contacts, questions: Questions, handover: Handover
    ) -> None:
        self._station = station
        self._members = members
        self._contacts = contacts
        self._questions = questions
        self._handover = handover
        self._interval = station.config.dht_refresh_ms * MILLISECOND
        self._asked: set[Address] = set()
        """The brokers, contacts or not, that are being checked."""
        self._gone: OrderedDict[Address, int] = OrderedDict()
        """Brokers that are gone, and until when; earliest first."""
        self._given: OrderedDict[Address, int] = OrderedDict()
        """Contacts that reported a restart, and until when they do not receive all entries again; earliest first."""
        self._restarted: set[Address] = set()
        """Those of them that reported another restart since."""
        self._followed: tuple[Address, ...] = ()
        self._next_round: int | None = None
        self._is_off = False

    # ---- events

    @property
    def is_behind(self) -> bool:
        """Whether the neighbours have changed since the last ``follow``."""
        return self._members.neighbours is not self._followed

    def follow(self, now: int) -> None:
        """Ask new neighbours, and check contacts that are no longer neighbours."""
        before, self._followed = self._followed, self._members.neighbours
        self._is_off = False
        for address in self._followed:
            if address not in before:
                self._gone.pop(address, None)
                self._consider(address, now)
        for address in before:
            if address not in self._followed:
                self.doubt(address, now)
        if self._followed and self._next_round is None:
            self._next_round = now + self._interval

    def heard_question(self, source: Address, is_new: bool, now: int) -> None:
        """Handle a question from ``source``; ``is_new`` if it says that it does not know us."""
        contact = self._contacts.get(source)
        if contact is None:
            self._gone.pop(source, None)
            self._consider(source, now)
            return
        self._contacts.hear(contact, now + self._interval)
        if is_new:
            self._note_restart(source, now)

    def note_answer(self, source: Address, answer: Answer | None, now: int) -> None:
        """Handle the result of a question to ``source``."""
        contact = self._contacts.get(source)
        if isinstance(answer, Nack):
            self._bury(source, now)
        elif answer is None:
            self.doubt(source, now)
        elif contact is not None:
            self._contacts.hear(contact, now + self._interval)
        elif self._contacts.has_room_for(source) and not self._is_off:
            self._gone.pop(source, None)
            self._contacts.add(source, now + self._interval)
            self._handover.note_new(source, now)
        if isinstance(answer, ClosestBrokers | DataFound):
            self._hear_of(answer.brokers, now)

    def doubt(self, address: Address, now: int) -> None:
        """Mark it as doubtful, because it owes an answer, and check it."""
        contact = self._contacts.get(address)
        if contact is not None:
            self._ask(address, CONTACT_TRIES, now)
            contact.in_doubt = address in self._asked

    def may_ask(self, address: Address) -> bool:
        """Whether to ask this address because another broker names it. False for untrusted and gone brokers."""
        return address not in self._gone and self._is_no_stranger(address)

    def is_missed(self, address: Address) -> bool:
        """Whether it is not asked only because it is gone."""
        return address in self._gone and self._is_no_stranger(address)

    def is_gone(self, address: Address) -> bool:
        """Whether it recently refused or did not answer any attempt."""
        return address in self._gone

    def unsure(self) -> list[Known]:
        """Brokers that may be alive but are no contacts, because they have not answered."""
        addresses = {*self._gone, *self._asked}
        return [(identifiers.of_broker(address), address) for address in addresses if address not in self._contacts]

    def stop(self) -> None:
        """Remove all contacts, because this broker has left, until its neighbours change."""
        self._is_off = True
        self._next_round = None
        self._given.clear()
        self._restarted.clear()
        self._contacts.clear()

    # ---- time

    def handle_timer(self, now: int) -> None:
        while self._gone and next(iter(self._gone.values())) <= now:
            self._gone.popitem(last=False)
        while self._given and next(iter(self._given.values())) <= now:
            address, _ = self._given.popitem(last=False)
            if address in self._restarted:
                self._restarted.discard(address)
                self._note_restart(address, now)
        if self._is_off:
            return
        if self._next_round is not None and self._next_round <= now:
            self._next_round = now + self._interval if self._followed else None
            for address in self._followed:  # a neighbour that returned, or whose bucket has room again
                self._gone.pop(address, None)
                self._consider(address, now)
        while (contact := self._contacts.first()) is not None and contact.due <= now:
            self._contacts.postpone(contact, now + self._interval)
            self._ask(contact.address, CONTACT_TRIES, now)

    def next_timer(self) -> int | None:
        first = self._contacts.first()
        dues = (self._next_round, first.due if first else None, next(iter(self._given.values()), None))
        return min((due for due in dues if due is not None), default=None)

    # ---- parts of the above

    def _note_restart(self, address: Address, now: int) -> None:
        """Handle a contact that has lost its entries. The report may be forged, so full handovers are rate-limited."""
        if address in self._given:
            self._restarted.add(address)
        else:
            self._given[address] = now + self._interval
            self._handover.note_lacking(address, now)

    def _is_no_stranger(self, address: Address) -> bool:
        if address == self._contacts.own:
            return False
        return self._station.open_network.trusts(address) or address in self._members

    def _hear_of(self, brokers: Iterable[Address], now: int) -> None:
        for address in brokers:
            if address not in self._contacts and self.may_ask(address):
                self._consider(address, now)

    def _consider(self, address: Address, now: int) -> None:
        """Check an unknown broker if its bucket has room."""
        if self._is_off or not self._contacts.has_room_for(address):
            return
        if sum(asked not in self._contacts for asked in self._asked) < MOST_STRANGERS:
            self._ask(address, STRANGER_TRIES, now)

    def _ask(self, address: Address, tries: int, now: int) -> None:
        if address in self._asked:
            return
        is_new = address not in self._contacts
        target = self._contacts.own_id if is_new or self._station.chances.upkeep.randrange(2) else self._anything()
        message = FindBrokers(self._questions.stamp(now), identifiers.to_text(target), is_new)
        ended = partial(self._settle, address)
        if self._questions.ask(message, address, now, ended, counter="dht_upkeep", tries=tries):
            self._asked.add(address)

    def _anything(self) -> int:
        return identifiers.by_chance(self._station.chances.upkeep)

    def _settle(self, address: Address, answer: Answer | None, now: int) -> None:
        self._asked.discard(address)
        if answer is None:
            self._bury(address, now)
        else:
            self.note_answer(address, answer, now)

    def _bury(self, address: Address, now: int) -> None:
        self._gone[address] = now + GONE_FOR * self._interval
        self._gone.move_to_end(address)
        if len(self._gone) > MOST_GONE:
            self._gone.popitem(last=False)
        if self._contacts.remove(address):
            self._given.pop(address, None)
            self._restarted.discard(address)
            self._handover.note_gone(address, now)

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if a doubtful contact is not checked, or a collection exceeds its bound."""
        assert self._asked.issuperset([contact.address for contact in self._contacts if contact.in_doubt])
        assert len(self._gone) <= MOST_GONE
        assert list(self._gone.values()) == sorted(self._gone.values())
        assert not any(address in self._contacts for address in self._gone)
        assert list(self._given.values()) == sorted(self._given.values())
        assert self._restarted <= set(self._given) <= {contact.address for contact in self._contacts}
