"""A client that stays: moves to better brokers without losing what it provides, and without a herd. Simulated."""

from collections import Counter
from statistics import fmean

from hypothesis import given, settings
from hypothesis import strategies as st

from overlay.core.chance import Stream
from overlay.core.node import MILLISECOND, SECOND
from overlay.load.choice import STAY_NS
from overlay.sim.world import server_address
from tests.discovery.village import Village
from tests.thorough import examples

STEP = 200 * MILLISECOND


class Life:
    """Clients that each provide an entity and ask for it at an interval, watched for what is lost."""

    def __init__(self, village, ask_every_ms):
        self.village = village
        self.every = ask_every_ms * MILLISECOND
        self.answered = self.asked = 0

    def begin(self):
        for number, one in enumerate(self.village.residents):
            self.village.simulator.at(number * 7 * MILLISECOND, lambda one=one: self._begin(one))

    def run(self, duration):
        """Without deaths, everything acknowledged is held by a live broker at any time."""
        simulator = self.village.simulator
        until = simulator.now + duration
        while simulator.now < until:
            simulator.run_for(STEP)
            held = self.held()
            for one in self.village.residents:
                for entry in one.provided.values():
                    assert entry.at is None or held[entry.name[1]], f"{entry.name} is lost"

    def held(self):
        """How many live brokers have each entity from its provider."""
        found = Counter()
        for actor in self.village.brokers.values():
            keys = actor.node.held_keys(self.village.simulator.now)
            found.update(key for key, is_original in keys.items() if is_original)
        return found

    def clients_at(self):
        return Counter(one.broker for one in self.village.residents)

    def _begin(self, one):
        now, number = self.village.simulator.now, one.identity[1]
        one.renew(self.village.listed, now)
        one.provide(f"p{number}", ("room", f"r{number}", "temp"), b"21", 3_600_000, now)
        self._ask(one)

    def _ask(self, one):
        simulator, number = self.village.simulator, one.identity[1]
        self.answered += sum(request.outcome == "answered" for request in one.finished)
        one.finished.clear()
        one.ask(("room", f"r{number}", "temp"), simulator.now, simulator.now + 10 * SECOND)
        self.asked += 1
        simulator.wake(self.village.actors[number])
        simulator.at(simulator.now + self.every, lambda: self._ask(one))


def test_by_load_clients_spread_over_brokers_that_come_later_without_a_herd_and_lose_nothing():
    village = Village(3, 1, 30, wish="load", look_ns=5 * SECOND)
    life = Life(village, 500)
    life.begin()
    life.run(10 * SECOND)
    assert life.clients_at() == {server_address(0): 30}
    for index in range(1, 6):
        village.start(index)
    most = []
    for _ in range(14):
        life.run(5 * SECOND)
        most.append(max(life.clients_at().values()))
    assert fmean(most[8:]) <= 10, most
    assert max(life.clients_at()[server_address(index)] for index in range(1, 6)) <= 15
    moves = [len(one.moves) for one in village.residents]
    assert sum(moves) >= 15
    assert max(moves) <= 70 * SECOND // STAY_NS
    last_minute = sum(at > village.simulator.now - 40 * SECOND for one in village.residents for at in one.moves)
    assert last_minute <= 30, "it settles"
    life.run(10 * SECOND)
    assert set(life.held().values()) == {1}, "each entity is at one broker"
    assert life.answered >= life.asked - 2 * 30


@settings(max_examples=examples(8))
@given(st.integers(0, 2**32), st.sampled_from(["latency", "load"]))
def test_whatever_dies_and_comes_back_each_client_has_a_broker_and_its_entries_are_there(seed, by):
    brokers, chance = 5, Stream(seed)
    village = Village(
        seed, brokers, 6, list(map(server_address, range(brokers))), wish=by, is_checked=True, look_ns=3 * SECOND
    )
    life = Life(village, 2000)
    life.begin()
    life.run(3 * SECOND)
    for _ in range(4):
        victim = chance.randrange(brokers)
        if victim in village.brokers and len(village.brokers) > 1:
            village.kill(victim)
        elif victim not in village.brokers:
            village.start(victim)
        village.simulator.run_for((1 + chance.randrange(6)) * SECOND)
    village.simulator.run_for(12 * SECOND)
    alive = {server_address(index) for index in village.brokers}
    for one in village.residents:
        assert one.broker in alive
        assert all(entry.at == one.broker or entry.is_sent for entry in one.provided.values())
        assert all(life.held()[entry.name[1]] for entry in one.provided.values())


def test_what_a_broker_refuses_is_said_and_not_sent_again():
    village = Village(4, 1, 1, table_entries=1)
    one, simulator = village.residents[0], village.simulator
    one.renew(village.listed, 0)
    entries = [one.provide("p", ("room", f"r{number}", "temp"), b"21", 60_000, 0) for number in range(2)]
    simulator.wake(village.actors[0])
    simulator.run_for(5 * SECOND)
    assert sorted(entry.refusal for entry in entries) == [0, 201]
    before = village.brokers[0].node.statistics(simulator.now)["in_2"]
    simulator.run_for(20 * SECOND)
    assert village.brokers[0].node.statistics(simulator.now)["in_2"] == before
    village.simulator.run_for(60 * SECOND)
    assert one.provided == {}, "they have expired"


def test_a_request_without_a_broker_waits_and_times_out():
    village = Village(5, 1, 1, [server_address(9)])
    one, simulator = village.residents[0], village.simulator
    request = one.ask(("room", "r1", "temp"), 0, 10 * SECOND)
    one.renew(village.listed, 0)
    simulator.wake(village.actors[0])
    simulator.run_for(11 * SECOND)
    assert (request.outcome, one.broker, one.finished) == ("timed_out", None, [request])
    one.renew([server_address(0)], simulator.now)
    simulator.wake(village.actors[0])
    simulator.run_for(SECOND)
    assert one.broker == server_address(0)
