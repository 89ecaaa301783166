"""The broker core as a network, in virtual time: searching, replicas, loss, death and partition."""

import pytest

from overlay.core.links import PROFILES, LinkShape
from overlay.core.node import MILLISECOND, SECOND
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.broker.events import NeighbourLost, NeighbourReturned
from overlay.systems.context_broker.broker.walks import POLICIES
from overlay.systems.context_broker.clients import questions
from overlay.systems.context_broker.clients.exchange import Retry
from overlay.systems.context_broker.wire.messages import ContextResponse
from overlay.systems.context_broker.workload import Workload
from overlay.topologies import KINDS, Graph, generate
from telemetry.systems.context_broker.lab.overlay import Overlay
from tests.sim.witness import Witness

ROOM = ("room", "r1", "climate")
ABSENT = ("room", "r2", "climate")
LINE = generate("line", 4, {"delay_ms": 1})
RING = generate("ring", 10, {"delay_ms": 2, "jitter_ms": 1})


def started(graph: Graph, config: BrokerConfig | None = None, seed: int = 1, **options: bool) -> Overlay:
    overlay = Overlay(graph, config, seed, **options)
    Witness(overlay)
    overlay.start()
    return overlay


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "custom"])
def test_every_walk_on_every_topology_ends_and_says_how(kind: str, policy: str) -> None:
    brokers = 1 if kind == "central" else 10
    graph = generate(kind, brokers, {} if kind == "central" else {"delay_ms": 1}, seed=5)
    overlay = started(graph, BrokerConfig(walk_policy=policy, replication_index=0))
    assert overlay.wrong_neighbours() == {}
    assert overlay.put(0, ROOM, b"degC=21.5").outcome == "answered"
    present = [overlay.ask(i % brokers, questions.request(ROOM)) for i in range(20)]
    absent = [overlay.ask(i % brokers, questions.request(ABSENT)) for i in range(20)]
    overlay.finish(present + absent)
    outcomes = [exchange.outcome for exchange in present]
    assert set(outcomes) <= {"answered", "not_found"}
    assert outcomes.count("answered") >= (20 if kind == "ring" and policy != "uniform" else 8)
    assert {exchange.reply.payload for exchange in present if exchange.outcome == "answered"} == {b"degC=21.5"}
    assert {(exchange.outcome, exchange.status) for exchange in absent} == {("not_found", 202)}
    overlay.run_for(11 * SECOND)
    assert overlay.statistics("pending") == [0] * brokers


def test_a_search_takes_its_hops_there_and_back() -> None:
    overlay = started(LINE)
    overlay.put(3, ROOM, b"degC=21.5")
    exchange = overlay.get(0, ROOM)
    assert (exchange.ended_at - exchange.sent_at) // MILLISECOND == 6  # three links of 1 ms, there and back
    assert overlay.statistics("forwards") == [1, 1, 1, 0]
    assert overlay.statistics("hits") == [0, 0, 0, 1]


@pytest.mark.parametrize("seed", range(5))
def test_brokers_with_no_settings_find_what_one_of_ten_has_wherever_it_is(seed: int) -> None:
    overlay = started(generate("waxman", 10, {"mean_degree": 2.0}, seed))
    for holder in range(10):
        key = ("room", f"r{holder}", "climate")
        overlay.put(holder, key, b"degC=21.5")
        overlay.run_for(SECOND // 10)  # stamps run ahead of the clock where several are made in a millisecond
        assert overlay.get((holder + 1 + seed) % 10, key).outcome == "answered"
    assert overlay.get(seed, ("room", "nowhere", "climate")).outcome == "not_found"


@pytest.mark.parametrize(
    ("policy", "answered", "messages"), [("avoid", 1.0, 5.0), ("noback", 1.0, 5.0), ("uniform", 0.87, 15.9)]
)
def test_walks_for_one_holder_on_a_ring_of_ten_find_and_cost_what_is_known(
    policy: str, answered: float, messages: float
) -> None:
    """The known figures are those of 2,000 walks without any network, and follow from counting for the first two."""
    overlay = Overlay(generate("ring", 10), BrokerConfig(walk_policy=policy, replication_index=0), monitoring=False)
    overlay.start()
    overlay.put(0, ROOM, b"degC=21.5")
    exchanges = []
    for _ in range(40):
        batch = [overlay.ask(i, questions.request(ROOM)) for i in range(1, 10)]
        overlay.finish(batch)
        exchanges += batch
    found = sum(exchange.outcome == "answered" for exchange in exchanges) / len(exchanges)
    assert found == pytest.approx(answered, abs=0 if answered == 1 else 0.05)
    assert sum(overlay.statistics("forwards")) / len(exchanges) == pytest.approx(messages, rel=0.15)


@pytest.mark.parametrize(("ttl", "reached"), [(1, {1}), (2, {1, 2}), (3, {1, 2, 3})])
def test_a_ttl_permits_so_many_forwards(ttl: int, reached: set[int]) -> None:
    overlay = started(LINE, BrokerConfig(walk_ttl=ttl, replication_index=0))
    for i in range(4):
        overlay.put(i, ("room", f"r{i}", "climate"), b"degC=21.5")
    outcomes = {i: overlay.get(0, ("room", f"r{i}", "climate")).outcome for i in range(1, 4)}
    assert {i for i, outcome in outcomes.items() if outcome == "answered"} == reached


@pytest.mark.parametrize(("index", "replicas"), [(0, 0), (1, 1), (2, 2), (9, 3)])
def test_as_many_replicas_appear_as_the_index_says(index: int, replicas: int) -> None:
    overlay = started(LINE, BrokerConfig(replication_index=index))
    overlay.put(3, ROOM, b"degC=21.5")
    assert overlay.get(0, ROOM).outcome == "answered"
    assert sum(overlay.statistics("replicas")) == replicas
    assert overlay.statistics("replicas")[3] == 0
    assert sum(overlay.statistics("entries")) == 1 + replicas


def test_short_lived_data_is_not_replicated_and_expires() -> None:
    overlay = started(LINE, BrokerConfig(replication_index=9))
    overlay.put(3, ROOM, b"degC=21.5", valid_ms=30_000)
    assert overlay.get(0, ROOM).outcome == "answered"
    assert sum(overlay.statistics("replicas")) == 0
    overlay.run_for(30 * SECOND)
    assert overlay.get(0, ROOM).outcome == "not_found"
    assert sum(overlay.statistics("entries")) == 0


def test_a_replica_is_as_old_as_its_original() -> None:
    overlay = started(LINE, BrokerConfig(replication_index=9))
    original = overlay.put(3, ROOM, b"degC=21.5")
    overlay.run_for(10 * SECOND)
    first, second = overlay.get(0, ROOM), overlay.get(0, ROOM)
    assert overlay.statistics("hits")[0] == 1
    assert isinstance(second.reply, ContextResponse)
    assert first.reply == second.reply
    assert second.reply.valid_end - second.reply.timestamp == 120_000
    assert original.attempts == 1


def test_updates_that_overtake_each_other_never_bring_back_the_old() -> None:
    overlay = Overlay(LINE, seed=1, local=LinkShape(delay_ms=0.05, reordering=0.25, duplication=0.25))
    Witness(overlay)
    overlay.start()
    now = overlay.simulator.now
    for i in range(300):
        update = questions.update("U", "p1", ROOM, 120_000, b"n=%d" % i)
        overlay.at(now + i * 10 * MILLISECOND, lambda update=update: overlay.ask(0, update))
        overlay.at(now + i * 10 * MILLISECOND, lambda: overlay.ask(0, questions.request(ROOM)))
    overlay.run_for(5 * SECOND)
    assert overlay.get(0, ROOM).reply.payload == b"n=299"
    assert overlay.statistics("outdated")[0] > 30


@pytest.mark.parametrize("profile", ["L2", "lossy", "bursts", "duplicating", "reordering", "LR"])
def test_asking_again_ends_in_answers_on_bad_links(profile: str) -> None:
    shapes = {
        **PROFILES,
        "lossy": LinkShape(delay_ms=2, loss=0.10),
        "bursts": LinkShape(delay_ms=2, loss=0.05, loss_burst=3),
        "duplicating": LinkShape(delay_ms=2, duplication=0.25),
        "reordering": LinkShape(delay_ms=2, reordering=0.25),
    }
    graph = generate("waxman", 10, {"links_per_broker": 2}, seed=3)
    overlay = started(graph, BrokerConfig(replication_index=1))
    overlay.put(4, ROOM, b"degC=21.5")
    for link in graph.links:
        overlay.lay(*link.ends, shapes[profile])
    patient = Retry(again_s=tuple(range(2, 40, 2)), give_up_s=40)
    exchanges = [overlay.ask(i % 10, questions.request(ROOM), patient) for i in range(50)]
    overlay.finish(exchanges)
    assert [exchange.outcome for exchange in exchanges] == ["answered"] * 50


def test_a_dead_broker_is_dropped_after_three_misses_and_taken_back_when_restarted() -> None:
    overlay = started(RING)
    before = overlay.simulator.now
    overlay.kill(3)
    overlay.run_for(3 * SECOND)
    assert overlay.neighbours(2) == {1, 3}
    overlay.run_for(2 * SECOND)
    assert overlay.wrong_neighbours() == {}
    [lost_at] = [at for at, event in overlay.brokers[2].history if isinstance(event, NeighbourLost)]
    assert 3 * SECOND <= lost_at - before <= 4 * SECOND + 10 * MILLISECOND
    overlay.restart(3)
    overlay.run_for(3 * SECOND)
    assert overlay.wrong_neighbours() == {}


def test_searches_go_round_the_dead() -> None:
    overlay = started(generate("random-regular", 10, {"degree": 4, "delay_ms": 1}, seed=1))
    overlay.put(5, ROOM, b"degC=21.5")
    overlay.kill(4)
    overlay.run_for(5 * SECOND)
    exchanges = [overlay.ask(i, questions.request(ROOM)) for i in overlay.brokers]
    overlay.finish(exchanges)
    assert {(exchange.outcome, exchange.attempts) for exchange in exchanges} == {("answered", 1)}


@pytest.mark.parametrize("seconds", [5, 30, 60])
def test_a_healed_partition_heals_the_overlay(seconds: int) -> None:
    graph = generate("waxman", 10, {"mean_degree": 4, "delay_ms": 1}, seed=2)
    overlay = started(graph)
    overlay.put(0, ROOM, b"degC=21.5", valid_ms=3_600_000)
    overlay.separate(range(5), range(5, 10))
    overlay.run_for(seconds * SECOND)
    assert any(overlay.neighbours(i) & set(range(5, 10)) for i in range(5)) is False
    overlay.heal()
    overlay.run_for(max(15, seconds // 2 + 1) * SECOND)
    assert overlay.wrong_neighbours() == {}
    assert any(isinstance(event, NeighbourReturned) for _, event in overlay.brokers[0].history)
    exchanges = [overlay.ask(i, questions.request(ROOM)) for i in range(10)]
    overlay.finish(exchanges)
    assert {exchange.outcome for exchange in exchanges} == {"answered"}


def test_nobody_living_is_dropped_on_links_that_lose_one_datagram_in_fifty() -> None:
    graph = generate("full-mesh", 6, {"delay_ms": 1, "loss": 0.02}, seed=2)
    overlay = started(graph)
    overlay.run_for(300 * SECOND)  # 9,000 pings
    lost = [
        event for actor in overlay.brokers.values() for _, event in actor.history if isinstance(event, NeighbourLost)
    ]
    assert len(lost) <= 2  # three misses in a row are expected 0.6 times
    assert overlay.wrong_neighbours() == {}


def test_a_workload_is_answered_in_full_on_clean_links() -> None:
    overlay = started(RING)
    workload = Workload(
        providers=10, consumers=20, update_interval_s=1, request_interval_s=1, duration_s=10, stagger_ms=20
    )
    tally = overlay.add_clients(workload)
    overlay.run_for(30 * SECOND)
    counters = tally.counters
    assert counters["outstanding"] == counters["timed_out"] == counters["refused"] == counters["not_found"] == 0
    assert counters["answered"] == counters["requests"] == counters["attempts"] > 300
    assert all(client.client.is_finished for client in overlay.clients)
    assert sum(len(client.facts) for client in overlay.clients) == counters["requests"]


def test_brokers_remember_no_more_requests_than_they_may() -> None:
    graph = generate("line", 2, {"delay_ms": 1, "loss": 1.0})
    config = BrokerConfig(pending_capacity=5, pending_deadline_ms=2000)
    overlay = started(generate("line", 2, {"delay_ms": 1}), config, monitoring=False)
    for link in graph.links:
        overlay.lay(*link.ends, link.shape())
    exchanges = [overlay.ask(0, questions.request(ROOM), Retry(again_s=(), give_up_s=3)) for _ in range(8)]
    overlay.finish(exchanges)
    assert sorted(exchange.outcome for exchange in exchanges) == ["not_found"] * 3 + ["timed_out"] * 5
    assert overlay.statistics("pending") == [0, 0]
