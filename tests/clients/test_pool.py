"""The client of a whole network, without sockets: who is asked, who after that, and what becomes of ports."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from overlay.core.addresses import Address
from overlay.core.node import MILLISECOND, SECOND
from overlay.systems.context_broker.clients.exchange import WallClock
from overlay.systems.context_broker.pool.health import REST_NS, Health, own_order
from overlay.systems.context_broker.pool.hedging import AGAIN, ASKS_PER_HEDGE, MOST_SAVED, SAMPLE, Hedging
from overlay.systems.context_broker.pool.pool import Pool, TooMany
from overlay.systems.context_broker.pool.pool_requests import CHECK_NS, PoolRequest
from overlay.systems.context_broker.pool.ports import MOST_LANES, MOST_OF_ONE
from overlay.systems.context_broker.pool.stamps import MOST_KEPT, EntryStamps
from overlay.systems.context_broker.wire.codec import encode, parse
from overlay.systems.context_broker.wire.extensions import QuietRequest
from overlay.systems.context_broker.wire.messages import (
    Ack,
    ContextResponse,
    ContextUpdateAdvertisement,
    Key,
    Nack,
    Ping,
    PingResponse,
    Status,
)
from tests.thorough import examples

BROKERS: tuple[Address, ...] = tuple(("127.0.0.1", 4000 + number) for number in range(4))
OWN = ("127.0.0.1", 9)
ROOM: Key = ("room", "r1", "temp")
DEADLINE = 10 * SECOND


class World:
    """A pool whose datagrams are kept until they are answered or lost."""

    def __init__(self) -> None:
        self.now = 1_000 * SECOND
        self.brokers: dict[int, Address] = {}
        self.sent: list[tuple[int, bytes]] = []
        self.ended: list[PoolRequest] = []
        self.pool = Pool(WallClock(), self.open)

    def open(self, number: int, broker: Address) -> Address:
        assert number not in self.brokers, "a port is opened once"
        self.brokers[number] = broker
        return OWN

    def ask(self, key: Key = ROOM, **how: object) -> PoolRequest:
        request = self.pool.ask(key, BROKERS, self.now, self.now + DEADLINE, **how)  # type: ignore[arg-type]
        self.look()
        return request

    def provide(self, key: Key = ROOM, **how: object) -> PoolRequest:
        deadline = self.now + DEADLINE
        request = self.pool.provide("p", key, b"t=1", 1000, BROKERS, self.now, deadline, **how)  # type: ignore[arg-type]
        self.look()
        return request

    def look(self) -> None:
        self.sent += self.pool.take_outgoing()
        self.ended += self.pool.take_finished()
        for number in self.pool.ports.take_closing():
            del self.brokers[number]
        self.pool.check_invariants()

    def wait(self, ns: int) -> None:
        end = self.now + ns
        while (due := self.pool.next_timer()) is not None and due <= end:
            self.now = max(due, self.now)
            self.pool.handle_timer(self.now)
            self.look()
        self.now = end

    def answer(self, sent: tuple[int, bytes], *, has_data: bool = True, broker: Address | None = None) -> None:
        """As a broker would."""
        number, data = sent
        for said in answers(data, has_data=has_data):
            self.pool.receive_datagram(number, encode(said), self.now)
        self.look()

    def asked(self) -> list[Address]:
        """Whom the kept datagrams went to; they are lost."""
        sent, self.sent = self.sent, []
        return [self.brokers[number] for number, _ in sent if number in self.brokers]


def answers(data: bytes, *, has_data: bool = True) -> list:
    message = parse(data)
    if isinstance(message, Ping):
        return [PingResponse(message.timestamp, OWN)]
    if isinstance(message, ContextUpdateAdvertisement):
        name = "ContextUpdateAdvertisement"
        return [
            Ack(message.timestamp, Status.REQ_RECEIVED, name, OWN),
            Ack(message.timestamp, Status.REQ_PROCESSED, name, OWN),
        ]
    assert isinstance(message, QuietRequest)
    key = message.entity_type, message.entity_id, message.scope
    if has_data:
        return [ContextResponse(5, "p", *key, 1, 2, b"t=1")]
    return [Nack(message.timestamp, Status.DATA_NOT_FOUND, "ContextRequest", OWN)]


def test_an_entity_is_asked_where_it_was_provided_and_its_port_is_used_again() -> None:
    world = World()
    first = world.provide()
    world.answer(world.sent.pop())
    second = world.ask()
    world.answer(world.sent.pop())
    assert [one.outcome for one in (first, second)] == ["answered", "answered"]
    assert first.answered and second.answered
    assert first.answered.exchange.broker == second.answered.exchange.broker == own_order(ROOM, BROKERS)[0]
    assert first.answered.lane is second.answered.lane
    assert world.ended == [first, second]


def test_the_broker_known_to_have_it_is_asked_first_unless_it_is_silent() -> None:
    world, holder = World(), own_order(ROOM, BROKERS)[-1]
    world.ask(holder=holder)
    assert world.asked() == [holder]
    world.pool.health.failed(holder, world.now)
    world.ask(holder=holder)
    assert holder not in world.asked()


def test_each_broker_leads_a_fair_share_and_one_less_moves_only_its_own() -> None:
    keys = [("room", str(number), "temp") for number in range(1000)]
    before = [own_order(key, BROKERS)[0] for key in keys]
    assert all(150 < count < 350 for count in Counter(before).values())
    after = [own_order(key, BROKERS[1:])[0] for key in keys]
    assert all(one == other for one, other in zip(before, after, strict=True) if one != BROKERS[0])


def test_nearer_brokers_come_first_and_the_noise_of_one_machine_decides_nothing() -> None:
    health, order = Health(), own_order(ROOM, BROKERS)
    for broker in BROKERS:
        health.heard(broker, (50 + 4 * BROKERS.index(broker)) * MILLISECOND)
    assert health.order(ROOM, BROKERS) == order
    for broker in order[1:]:
        for _ in range(30):
            health.heard(broker, MILLISECOND)
    assert health.order(ROOM, BROKERS) == [*order[1:], order[0]]
    health.keep(BROKERS[:0])
    assert health.order(ROOM, BROKERS) == order
    health.check_invariants()


def test_one_where_nobody_listens_costs_nothing_and_is_pinged_ever_more_seldom() -> None:
    world, order = World(), own_order(ROOM, BROKERS)
    request = world.ask()
    (number, _) = world.sent.pop()
    world.pool.is_refused(number, world.now)
    world.look()
    assert world.asked() == [order[1]]
    assert not request.outcome
    world.pool.cancel(request)
    pings = []
    for _ in range(600):
        world.wait(SECOND // 10)
        world.pool.cancel(world.ask())
        pings += [world.now for broker in world.asked() if broker == order[0]]
        for number, broker in list(world.brokers.items()):
            if broker == order[0]:
                world.pool.is_refused(number, world.now)
        world.look()
    assert 4 <= len(pings) <= 10
    gaps = [later - earlier for earlier, later in pairwise(pings)]
    assert gaps == sorted(gaps)
    world.wait(30 * SECOND)
    world.pool.cancel(world.ask())
    for sent in list(world.sent):
        if world.brokers.get(sent[0]) == order[0]:
            world.answer(sent)
    world.sent.clear()
    world.ask()
    assert world.asked() == [order[0]]


def test_requests_that_fail_together_count_once_and_dead_brokers_do_not_count_as_asked() -> None:
    world = World()
    many = tuple(("127.0.0.1", 5000 + number) for number in range(12))
    requests = [world.pool.ask(ROOM, many, world.now, world.now + DEADLINE) for _ in range(50)]
    world.look()
    for broker in own_order(ROOM, many)[:7]:
        for number in [number for number, _ in world.sent]:
            assert world.brokers[number] == broker
            world.pool.is_refused(number, world.now)
        world.sent.clear()
        world.look()
    for sent in list(world.sent):
        world.answer(sent)
    assert {one.outcome for one in requests} == {"answered"}
    assert not world.pool.health.to_try(world.now)
    assert len(world.pool.health.to_try(world.now + REST_NS)) == 7


def test_a_silent_one_is_pinged_and_left_and_one_that_searches_is_waited_for() -> None:
    world, order = World(), own_order(ROOM, BROKERS)
    request = world.ask()
    world.asked()
    world.wait(CHECK_NS)
    (ping,) = world.sent
    assert ping[1].startswith(b"1|")
    world.answer(world.sent.pop())
    world.wait(SECOND // 2)
    assert world.asked() == [], "it lives, so it searches"
    world.wait(3 * SECOND)  # its pings are lost from now on
    assert order[1] in world.asked()
    world.wait(9 * SECOND)
    assert (request.outcome, world.ended) == ("timed_out", [request])


def test_not_found_is_said_when_those_that_are_asked_say_so() -> None:
    world = World()
    request = world.ask()
    for _ in BROKERS:
        assert not request.outcome
        world.answer(world.sent.pop(), has_data=False)
    assert request.outcome == "not_found"
    alone = world.ask(is_alone=True)
    world.answer(world.sent.pop(), has_data=False)
    assert alone.outcome == "not_found"


def test_a_second_broker_is_asked_after_the_usual_time_and_the_first_answer_counts() -> None:
    world = World()
    for _ in range(2 * ASKS_PER_HEDGE):
        world.ask()
        world.now += 3 * MILLISECOND
        world.answer(world.sent.pop())
    request = world.ask()
    slow = world.sent.pop()
    world.wait(3 * MILLISECOND)
    (hedge,) = world.sent
    world.sent.clear()
    world.answer(hedge)
    assert (request.outcome, request.strategy) == ("answered", "hedged")
    assert slow[0] not in world.brokers, "a late answer finds its port closed"
    world.answer(slow)
    assert world.ended[-1] is request
    assert world.ended.count(request) == 1


def test_hedges_are_a_twentieth_of_the_asks_however_slow_the_brokers_are() -> None:
    hedging = Hedging()
    assert not hedging.take()
    taken = 0
    for _ in range(1000):
        hedging.asked()
        taken += hedging.take()
        hedging.check_invariants()
    assert taken == 1000 // ASKS_PER_HEDGE
    for _ in range(10_000):
        hedging.asked()
    assert sum(hedging.take() for _ in range(100)) == MOST_SAVED
    for took in [1] * (SAMPLE - SAMPLE // 20) + [9] * (SAMPLE // 20 + 1) + [9] * AGAIN:
        hedging.note(took * MILLISECOND)
    assert hedging.wait_ns == 9 * MILLISECOND


def test_updates_of_an_entry_never_share_a_timestamp_and_others_do_not_move_it() -> None:
    stamps, now = EntryStamps(WallClock()), 5 * SECOND
    assert [stamps.next(("p", ROOM), now) for _ in range(3)] == [5000, 5001, 5002]
    assert stamps.next(("q", ROOM), now) == 5000
    for number in range(2 * MOST_KEPT):
        stamps.next((str(number), ROOM), now + number * MILLISECOND)
    assert stamps.next(("p", ROOM), now + SECOND) == 6000
    assert len(stamps._last) <= MOST_KEPT


def test_an_update_ahead_of_the_clock_is_valid_at_once() -> None:
    world = World()
    updates = [world.provide() for _ in range(3)]
    sent = [parse(data) for _, data in world.sent]
    clock_ms = world.now // MILLISECOND
    assert [message.timestamp for message in sent] == [clock_ms, clock_ms + 1, clock_ms + 2]
    assert {message.valid_begin for message in sent} == {clock_ms}
    assert not any(one.outcome for one in updates)


def test_more_than_the_ports_at_once_are_refused_and_the_next_is_taken_when_one_is_free() -> None:
    world = World()
    for number in range(MOST_LANES):
        world.ask(("room", str(number), "temp"))
    refused = 0
    try:
        world.ask()
    except TooMany:
        refused += 1
    assert refused == 1
    world.answer(world.sent[0])
    assert not world.ask().outcome


def test_a_broker_that_hangs_leaves_half_of_the_ports_to_the_others() -> None:
    world = World()
    world.pool.keep(BROKERS)

    def ask_alone(number: int, broker: Address) -> PoolRequest:
        request = world.pool.ask(
            ("room", str(number), "temp"), (broker,), world.now, world.now + DEADLINE, is_alone=True
        )
        world.look()
        return request

    waiting = [ask_alone(number, BROKERS[0]) for number in range(MOST_OF_ONE)]
    assert not any(one.outcome for one in waiting)
    assert ask_alone(0, BROKERS[0]).outcome == "timed_out", "at once"
    world.asked()
    assert not world.ask(holder=BROKERS[0]).outcome
    assert world.asked() != [BROKERS[0]]
    assert not ask_alone(0, BROKERS[1]).outcome
    world.wait(DEADLINE)
    assert {one.outcome for one in waiting} == {"timed_out"}


class AnyNetwork(RuleBasedStateMachine):
    """Whatever is lost, late or dead: each request ends once, by its deadline, with its own answer."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.requests: list[PoolRequest] = []

    @rule(key=st.sampled_from("abc"), is_alone=st.booleans(), traced=st.sampled_from([0, 3]))
    def ask(self, key: str, is_alone: bool, traced: int) -> None:
        self.requests.append(self.world.ask(("room", key, "temp"), is_alone=is_alone, trace_one_in=traced))

    @rule(key=st.sampled_from("abc"), is_alone=st.booleans())
    def provide(self, key: str, is_alone: bool) -> None:
        self.requests.append(self.world.provide(("room", key, "temp"), is_alone=is_alone))

    @rule(place=st.integers(0, 9), has_data=st.booleans(), is_kept=st.booleans())
    def answer(self, place: int, has_data: bool, is_kept: bool) -> None:
        sent = self.world.sent
        if place < len(sent):
            self.world.answer(sent[place] if is_kept else sent.pop(place), has_data=has_data)

    @rule(place=st.integers(0, 9))
    def lose(self, place: int) -> None:
        if place < len(self.world.sent):
            self.world.sent.pop(place)

    @rule(place=st.integers(0, 9))
    def refuse(self, place: int) -> None:
        if place < len(self.world.sent):
            self.world.pool.is_refused(self.world.sent.pop(place)[0], self.world.now)
            self.world.look()

    @rule(ms=st.sampled_from([1, 3, 50, 250, 1000, 4000]))
    def wait(self, ms: int) -> None:
        self.world.wait(ms * MILLISECOND)

    @rule(place=st.integers(0, 9))
    def cancel(self, place: int) -> None:
        if place < len(self.requests) and not self.requests[place].outcome:
            self.world.pool.cancel(self.requests.pop(place))
            self.world.look()

    @rule(count=st.integers(0, 4))
    def keep(self, count: int) -> None:
        self.world.pool.keep(BROKERS[:count])
        self.world.look()

    @invariant()
    def each_ends_once_with_its_own(self) -> None:
        self.world.pool.check_invariants()
        ended = Counter(map(id, self.world.ended))
        for request in self.requests:
            assert ended[id(request)] == bool(request.outcome)
            assert request.outcome or self.world.now <= request.deadline
            if request.outcome == "answered":
                assert request.answered and request.answered.exchange.broker in request.brokers
                reply = request.answered.exchange.reply
                assert request.is_search == isinstance(reply, ContextResponse)

    def teardown(self) -> None:
        self.world.wait(2 * DEADLINE)
        assert all(request.outcome for request in self.requests)
        assert not list(self.world.pool.ports.in_use())


AnyNetwork.TestCase.settings = settings(max_examples=examples(200), stateful_step_count=30)
TestAnyNetwork = AnyNetwork.TestCase
