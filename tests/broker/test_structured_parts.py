"""Identifiers, buckets and lookups of the structured arm, for any brokers and whatever is answered."""

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from overlay.systems.context_broker.broker.structured.contacts import Contacts, keepers_among
from overlay.systems.context_broker.broker.structured.identifiers import (
    BITS,
    bucket_of,
    from_text,
    of_broker,
    of_key,
    to_text,
)
from overlay.systems.context_broker.broker.structured.lookup import MOST_QUESTIONS, Lookup, State
from overlay.systems.context_broker.broker.structured.missed import GAPS, MOST_MISSED, Missed

identifiers = st.integers(0, 2**BITS - 1)
brokers = st.tuples(st.integers(1, 254).map("10.0.0.{}".format), st.integers(1, 3))
OWN = ("10.0.1.1", 7000)


# ---- identifiers


@given(identifiers, identifiers, identifiers)
def test_exclusive_or_is_a_distance(a, b, c):
    assert a ^ a == 0
    assert a ^ b == b ^ a
    assert (a ^ c) <= (a ^ b) + (b ^ c)


@given(identifiers, identifiers)
def test_only_one_identifier_has_a_given_distance(a, distance):
    assert a ^ (a ^ distance) == distance


@given(identifiers, identifiers, identifiers)
def test_those_in_one_bucket_are_closer_to_each_other_than_to_us(own, a, b):
    if own not in (a, b) and a != b and bucket_of(own, a) == bucket_of(own, b):
        assert bucket_of(a, b) < bucket_of(own, a)


@given(identifiers)
def test_identifiers_are_written_and_read(identifier):
    assert from_text(to_text(identifier)) == identifier
    assert len(to_text(identifier)) == 40


def test_identifiers_are_those_of_any_blake2():
    assert to_text(of_broker(("127.0.0.1", 7000))) == "88ef2f00b5cbae49104114573cde49190c30c822"
    assert to_text(of_key(("room", "r1", "climate"))) == "86b27a2d789476a7af9349df594f2157e923bf78"


# ---- buckets


class Book(RuleBasedStateMachine):
    """Contacts against a plain set of addresses."""

    def __init__(self):
        super().__init__()
        self.contacts = Contacts(OWN, 3)
        self.model = {}
        self.now = 0

    @rule(broker=brokers)
    def meet(self, broker):
        fellows = [other for other in self.model if self._bucket(other) == self._bucket(broker)]
        assert self.contacts.has_room_for(broker) == (broker not in self.model and len(fellows) < 3)
        if self.contacts.has_room_for(broker):
            self.now += 1
            self.contacts.add(broker, self.now)
            self.model[broker] = self.now

    @rule(broker=brokers)
    def lose(self, broker):
        assert self.contacts.remove(broker) == (self.model.pop(broker, None) is not None)

    @precondition(lambda self: self.model)
    @rule(data=st.data(), lives=st.booleans())
    def look_after(self, data, lives):
        broker = data.draw(st.sampled_from(sorted(self.model)))
        contact = self.contacts.get(broker)
        self.now += 1
        self.model[broker] = self.now
        if lives:
            self.contacts.hear(contact, self.now)
            assert not contact.in_doubt
        else:
            self.contacts.postpone(contact, self.now)
            contact.in_doubt = True

    @rule(place=identifiers, count=st.integers(1, 9), but=st.none() | brokers)
    def ask(self, place, count, but):
        sure = [broker for broker in self.model if not self.contacts.get(broker).in_doubt and broker != but]
        assert self.contacts.closest(place, count, but) == nearest(place, sure)[:count]
        assert keepers_among(self.contacts.known(), place, count) == nearest(place, [*self.model, OWN])[:count]

    @invariant()
    def is_in_order(self):
        self.contacts.check_invariants()
        assert {contact.address for contact in self.contacts} == set(self.model)
        first = self.contacts.first()
        assert (first.address if first else None) == min(self.model, key=self.model.get, default=None)

    def _bucket(self, broker):
        return bucket_of(of_broker(broker), of_broker(OWN))


TestBook = Book.TestCase


def nearest(target, some):
    return sorted(some, key=lambda broker: of_broker(broker) ^ target)


# ---- lookups

FAILED = [State.SILENT, State.GONE]


@given(st.data(), st.sets(brokers, min_size=1, max_size=40), identifiers, st.integers(1, 5), st.integers(1, 4))
def test_a_lookup_finds_the_closest_that_answer(data, network, target, width, parallel):
    """Where each that answers names the closest, whoever fails, and in whatever order they answer."""
    dead = data.draw(st.sets(st.sampled_from(sorted(network))))
    alive = nearest(target, network - dead)
    lookup = Lookup(target, width, parallel)
    lookup.offer([*data.draw(st.lists(st.sampled_from(sorted(network)), min_size=1, max_size=5)), *alive[-1:]])
    flying = []
    while not lookup.is_complete:
        flying += lookup.next_to_ask()
        assert 0 < len(flying) == lookup.in_flight <= parallel
        broker = flying.pop(data.draw(st.integers(0, len(flying) - 1)))
        lookup.settle(broker, State.ANSWERED if broker in alive else data.draw(st.sampled_from(FAILED)))
        if broker in alive:
            lookup.offer(nearest(target, network)[: width + len(dead)])
        lookup.check_invariants()
    assert lookup.closest() == alive[:width]
    assert lookup.heard_nobody == (not alive)


@given(st.data(), identifiers)
def test_a_lookup_ends_whatever_it_is_told(data, target):
    """Brokers that name ever closer ones, without end, are asked so often and not more."""
    lookup = Lookup(target, 3, 3, OWN)
    lookup.offer([("10.0.0.1", 1)])
    named, flying = 1, []
    while True:
        flying += lookup.next_to_ask()
        if lookup.is_complete or not flying:
            break
        lookup.settle(flying.pop(), data.draw(st.sampled_from([State.ANSWERED, *FAILED])))
        lookup.offer(("10.9.9.9", named + more) for more in range(data.draw(st.integers(0, 20))))
        named += 20
        lookup.check_invariants()
    assert lookup.questions <= MOST_QUESTIONS


def test_the_silent_among_the_closest_are_in_doubt_until_they_answer_or_are_gone():
    a, b, c = nearest(0, [("10.0.0.1", 1), ("10.0.0.2", 1), ("10.0.0.3", 1)])
    lookup = Lookup(0, 2, 3)
    lookup.offer([a, b, c])
    assert lookup.next_to_ask() == [a, b]
    lookup.settle(a, State.SILENT)
    assert lookup.next_to_ask() == [c], "it is passed over"
    lookup.settle(b, State.ANSWERED)
    lookup.settle(c, State.ANSWERED)
    assert lookup.is_complete
    assert lookup.in_doubt() == [a]
    lookup.insist(lambda broker: False)
    assert not lookup.is_complete
    assert lookup.next_to_ask() == [a]
    lookup.settle(a, State.SILENT)
    lookup.insist(lambda broker: broker == a)
    assert lookup.is_complete
    assert lookup.in_doubt() == []


def test_that_one_is_gone_is_not_for_us_alone_to_say_where_another_names_it():
    a, b = nearest(0, [("10.0.0.1", 1), ("10.0.0.2", 1)])
    lookup = Lookup(0, 2, 3)
    lookup.offer([b])
    lookup.next_to_ask()
    lookup.settle(b, State.ANSWERED)
    lookup.doubt([a], vouched=True)
    assert lookup.is_complete
    lookup.insist(lambda broker: True)
    assert lookup.next_to_ask() == [a]


def test_alone_a_lookup_is_complete_at_once():
    lookup = Lookup(0, 3, 3, OWN)
    assert lookup.is_complete
    assert not lookup.heard_nobody
    assert lookup.closest() == [OWN]


# ---- what is to be handed over again


class Retries(RuleBasedStateMachine):
    """Missed pairs against a plain dictionary of when each is due."""

    def __init__(self):
        super().__init__()
        self.missed = Missed()
        self.model = {}
        self.now = 0

    @rule(keeper=st.integers(1, 3), entry=st.integers(1, 5), before=st.integers(0, len(GAPS)), gap=st.integers(0, 2))
    def miss(self, keeper, entry, before, gap):
        self.now += gap * GAPS[0]
        pair = (("10.0.0.1", keeper), ("room", f"r{entry}", "temp"), "p")
        self.model.pop(pair, None)
        assert self.missed.put(pair, before, self.now) == (before < len(GAPS))
        if before < len(GAPS):
            self.model[pair] = self.now + GAPS[before], before + 1

    @rule(gap=st.integers(0, 20))
    def take(self, gap):
        self.now += gap * GAPS[0]
        taken = {}
        while (due := self.missed.take_due(self.now)) is not None:
            taken[due[0]] = due[1]
        assert taken == {pair: before for pair, (at, before) in self.model.items() if at <= self.now}
        self.model = {pair: waiting for pair, waiting in self.model.items() if pair not in taken}

    @rule(keeper=st.integers(1, 3))
    def forget(self, keeper):
        self.missed.forget(("10.0.0.1", keeper))
        self.model = {pair: waiting for pair, waiting in self.model.items() if pair[0][1] != keeper}

    @invariant()
    def is_in_order(self):
        self.missed.check_invariants()
        assert len(self.missed) == len(self.model)
        assert self.missed.first_due() == min((at for at, _ in self.model.values()), default=None)


TestRetries = Retries.TestCase


def test_beyond_the_bound_what_goes_unanswered_is_given_up():
    missed = Missed()
    pairs = [(OWN, ("room", f"r{i}", "temp"), "p") for i in range(MOST_MISSED + 1)]
    assert [missed.put(pair, 0, 0) for pair in pairs] == [*MOST_MISSED * [True], False]
    assert missed.put(pairs[0], 1, 0)
    missed.check_invariants()
