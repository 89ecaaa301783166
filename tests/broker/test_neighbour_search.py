"""Searching for neighbours among candidates: an order to join (8) under greedy and random membership."""

from itertools import pairwise

import pytest

from overlay.core.addresses import format_address
from overlay.core.errors import InvalidSetting
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.broker.neighbour_search import LONGEST_GAP, MOST_CANDIDATES
from tests.broker.transcript import NAMES, STRANGER, A, B, C, D, E, K, Talk

JOINING = "BrokerJoining"
DELAYS = {B: 30, D: 10, E: 20}
"""Milliseconds of a round trip."""


def text(*brokers):
    return "|".join(map(format_address, brokers))


def events(talk):
    return [type(event).__name__ for event in talk.broker.events()]


class World:
    """One that searches, in a world of brokers that answer pings after their delay and joins unless they are full."""

    def __init__(self, delays=DELAYS, full=(), neighbours=None, **settings):
        self.talk = Talk(**{"membership": "greedy", "neighbours_wanted": 2, **settings})
        self.delays, self.full = dict(delays), set(full)
        self.told = neighbours or {}
        self.sent, self.due = [], []
        self.now = 0

    def order(self, *candidates, stamp=7):
        self._take([(0, *one) for one in self.talk.hear(K, f"8|{stamp}|{text(*candidates)}")])

    def run(self, ms):
        """Let time pass in steps of a millisecond."""
        for _ in range(ms):
            self.now += 1
            self._take(self.talk.wait(1))
            for item in [item for item in self.due if item[0] <= self.now]:
                self.due.remove(item)
                self._take([(0, *one) for one in self.talk.hear(*item[1:])])
        return self

    def kill(self, broker):
        del self.delays[broker]

    def _take(self, sent):
        by_name = {name: address for address, name in NAMES.items()}
        for _, name, message in sent:
            self.sent.append((self.now, name, message))
            code, address = message.split("|")[0], by_name[name]
            answer = self._answer(code, address, message)
            if address in self.delays and answer:
                self.due.append((self.now + self.delays[address], address, answer))

    def _answer(self, code, address, message):
        if code == "1":
            return f"9|1|Ctx_Broker|{format_address(address)}"
        if code == "8" and address not in self.full:
            return f"5|9|ACK|Status:101|Operation BrokerJoining|Requested by {format_address(A)}"
        if code == "18" and address in self.told:
            return f"19|1|{text(*self.told[address])}"
        return None

    def of(self, code, name=None):
        return [(at, who) for at, who, message in self.sent if message.startswith(f"{code}|") and name in (None, who)]

    def told_controller(self):
        return [message.split("|")[3] for _, name, message in self.sent if name == "K"]

    @property
    def neighbours(self):
        return set(self.talk.broker.neighbours)


def test_three_pings_each_and_the_nearest_are_joined():
    world = World()
    world.order(B, D, E)
    world.run(105)
    assert [len(world.of(1, name)) for name in "BDE"] == [3, 3, 3]
    assert world.of(8) == [(90, "D"), (90, "E")]
    assert world.told_controller() == ["Status:101"]
    world.run(10)
    assert world.neighbours == {D, E}
    assert world.told_controller() == ["Status:101", "Status:102"]
    assert "NeighboursFound" in events(world.talk)
    before = len(world.sent)
    world.run(5000)
    assert len(world.sent) == before, "then it rests"


def test_random_neighbours_are_any_that_answered():
    found = set()
    for seed in range(20):
        world = World(membership="random", seed=seed)
        world.order(B, D, E)
        world.run(130)
        assert len(world.neighbours) == 2
        found.add(frozenset(world.neighbours))
    assert len(found) == 3


def test_a_lost_ping_counts_as_a_slow_one():
    world = World({B: 30, D: 10})
    world.order(B, D)
    world.due = [item for item in world.due if item[1] != D]  # what D answers first is lost
    world.run(600)
    joins = [message for _, _, message in world.sent if message[0] == "8"]
    assert joins[0].startswith(f"8|{joins[0].split('|')[1]}|{text(B, D)}")


def test_one_that_is_full_is_passed_over_for_the_next():
    world = World(full=[D])
    world.order(B, D, E)
    world.run(2000)
    assert world.neighbours == {B, E}
    assert world.told_controller()[-1] == "Status:102"


def test_who_reaches_nobody_says_so_waits_and_joins_when_somebody_is_there():
    world = World({})
    world.order(B, D)
    world.run(1000)
    assert world.told_controller() == ["Status:101", "Status:201"]
    assert events(world.talk)[-1] == "NeighboursAwaited"
    world.run(9000)
    starts = sorted({at for at, _ in world.of(1, "B")})[::3]
    gaps = [later - earlier for earlier, later in pairwise(starts)]
    assert gaps == sorted(set(gaps)), "ever more seldom"
    world.delays |= DELAYS
    world.run(10_000)
    assert world.neighbours == {B, D}
    assert world.told_controller() == ["Status:101", "Status:201"], "the controller has its answer"


def test_the_gaps_of_who_waits_are_bounded():
    world = World({})
    world.order(B)
    world.talk.wait(1_000_000)
    starts = [at for at, _, message in world.talk.wait(200_000) if message.startswith("1|")][::3]
    assert starts[1] - starts[0] <= LONGEST_GAP * 1000 + 500


def test_with_fewer_than_the_least_it_goes_on_searching():
    world = World({B: 10})
    world.order(B, D, E)
    world.run(3000)
    assert world.neighbours == {B}, "one is better than none"
    assert world.told_controller() == ["Status:101", "Status:201"]
    world.delays[E] = 10
    world.run(4000)
    assert world.neighbours == {B, E}


def test_of_a_list_of_one_one_is_enough():
    world = World()
    world.order(B)
    world.run(200)
    assert (world.neighbours, world.told_controller()) == ({B}, ["Status:101", "Status:102"])


def test_whom_it_reaches_it_asks_for_others():
    world = World({B: 10, C: 10}, neighbours={B: [A, C, E]})
    world.order(B, D)
    world.run(3000)
    assert world.neighbours == {B, C}
    assert world.of(18, "B")
    assert {name for _, name in world.of(1)} == {"B", "C", "D", "E"}


def test_nobody_that_was_not_asked_can_name_candidates_and_strangers_are_none():
    world = World({B: 10}, neighbours={B: [STRANGER]})
    world.order(B, D)
    world.talk.hear(E, f"19|1|{text(C)}")
    world.run(3000)
    assert {name for _, name in world.of(1)} == {"B", "D"}
    assert world.talk.stats()["rejected_stray"] >= 1


def test_when_one_dies_and_too_few_are_left_it_searches_again():
    world = World(ping_interval_ms=100)
    world.order(B, D, E)
    world.run(200)
    world.talk.hear(K, "0|8")
    world.kill(D)
    world.run(2000)
    assert world.neighbours == {B, E}


def test_when_one_leaves_and_too_few_are_left_it_searches_again():
    world = World()
    world.order(B, D, E)
    world.run(200)
    world.kill(D)
    world.talk.hear(D, "7|1|*")
    world.run(1000)
    assert world.neighbours == {B, E}


def test_others_that_join_count():
    world = World({})
    world.order(B, D)
    world.run(1200)
    for broker in (C, E):
        world.talk.hear(broker, f"8|1|{text(A)}|*")
    assert events(world.talk)[-1] == "NeighboursFound"
    before = len(world.of(1))
    world.run(30_000)
    assert len(world.of(1)) == before


def test_an_order_repeated_is_the_same_search_and_another_list_replaces_it():
    world = World({B: 200, D: 10})
    world.order(B, stamp=7)
    world.run(100)
    world.order(B, stamp=8)
    world.run(100)
    assert world.told_controller() == ["Status:101", "Status:101"]
    world.order(D, stamp=9)
    assert world.told_controller() == ["Status:101"] * 3 + ["Status:201"]
    world.run(200)
    assert world.neighbours == {D}
    assert world.told_controller()[-1] == "Status:102"


def asked_to_join(world):
    return [name for _, name in world.of(8)]


def test_whom_a_replaced_order_was_joining_is_awaited_no_more():
    world = World({B: 10}, full=[B])
    world.order(B, stamp=7)
    world.run(50)
    assert asked_to_join(world) == ["B"]
    world.order(D, stamp=8)
    world.run(1000)
    assert asked_to_join(world) == ["B"], "not again"
    ack = f"5|9|ACK|Status:101|Operation BrokerJoining|Requested by {format_address(A)}"
    world.talk.hear(B, ack)
    assert (world.neighbours, world.talk.stats()["rejected_stray"]) == (set(), 1)


def test_the_end_of_a_join_moves_only_the_search_that_began_it():
    world = World({B: 10, D: 10, E: 10}, full=[B, D], neighbours_wanted=1, neighbours_least=1)
    world.order(B, stamp=7)
    world.run(400)
    world.order(D, E, stamp=8)
    world.run(300)
    assert len({name for _, name in world.of(8) if name != "B"}) == 1, "the first chosen still has time to answer"
    world.run(400)
    assert world.neighbours == {E}


def test_a_controller_that_never_stops_ordering_has_one_join_under_way():
    talk = Talk(membership="greedy")
    for i in range(100):
        talk.hear(K, f"8|1|{text(B, (C, D)[i % 2])}")
        for _ in range(3):
            talk.hear(B, f"9|1|Ctx_Broker|{format_address(B)}")
            talk.hear((C, D)[i % 2], f"9|1|Ctx_Broker|{format_address(B)}")
    assert [name for _, name, sent in talk.wait(170) if sent.startswith("8|")] == ["B", "D"]


def test_leaving_ends_the_search():
    world = World({})
    world.order(B, D)
    sent = world.talk.hear(K, "7|8")
    assert world.talk.nack(201, JOINING, 7, K) in sent
    assert world.talk.wait(100_000) == []


def test_a_list_that_names_only_itself_is_refused():
    talk = Talk(membership="greedy")
    assert talk.hear(K, f"8|7|{text(A)}") == [talk.ack(101, JOINING, K), talk.nack(201, JOINING, 7, K)]


def test_of_a_long_list_some_are_drawn():
    talk = Talk(membership="random")
    addresses = "|".join(f"10.0.{1 + i // 250}.{1 + i % 250}:4000" for i in range(900))
    talk.broker.receive_datagram(f"8|7|{addresses}".encode(), K, talk.now)
    talk.broker.check_invariants()
    pinged = [to for data, to in talk.broker.datagrams_to_send() if data.startswith(b"1|")]
    assert len(set(pinged)) == len(pinged) == MOST_CANDIDATES


def test_given_membership_joins_whom_it_is_told():
    talk = Talk(B)
    assert [name for name, sent in talk.hear(K, f"8|7|{text(D, E)}") if sent.startswith("8|")] == ["D", "E"]
    assert talk.hear(B, f"19|1|{text(C)}") == []


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"neighbours_least": 5}, "neighbours_least"),
        ({"neighbour_capacity": 3}, "neighbours_wanted"),
    ],
)
def test_what_cannot_be_is_refused(settings, field):
    BrokerConfig(**settings)
    with pytest.raises(InvalidSetting) as caught:
        BrokerConfig(membership="greedy", **settings)
    assert caught.value.field == field
