"""Who is a neighbour of whom, in virtual time: false deaths under loss, crashes on every topology, neighbour search."""

from collections import Counter
from dataclasses import replace
from itertools import combinations
from statistics import fmean

import networkx as nx
import pytest

from overlay.core.links import LinkShape
from overlay.core.node import MILLISECOND, SECOND
from overlay.sim.world import server_address
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.broker.events import NeighbourLost
from overlay.systems.context_broker.clients import questions
from overlay.systems.context_broker.clients.exchange import Retry
from overlay.systems.context_broker.profiles import resolved
from overlay.systems.context_broker.wire.codec import parse
from overlay.systems.context_broker.wire.extensions import BrokerGone
from overlay.topologies import KINDS, Graph, generate
from telemetry.systems.context_broker.lab.overlay import Overlay
from tests.sim.witness import Witness

ABSENT = ("room", "r2", "climate")
ONCE = Retry(again_s=(), give_up_s=3)


def settings(name: str) -> BrokerConfig:
    return BrokerConfig(**resolved({"profile": name}))


def detection(config: BrokerConfig) -> int:
    """How long a crash may stay unknown (ns): the misses, the rounds of suspicion, and the interval under way."""
    rounds = config.suspicion_rounds if config.indirect_probes else 0
    return (config.ping_misses + rounds + 1) * config.ping_interval_ms * MILLISECOND


def started(graph: Graph, config: BrokerConfig, seed: int = 1, *, watched: bool = True) -> Overlay:
    """``watched`` by a witness of each datagram, which takes half of the time."""
    overlay = Overlay(graph, config, seed)
    if watched:
        Witness(overlay)
    overlay.start()
    return overlay


def losing(overlay: Overlay, loss: float) -> None:
    """Between any two brokers, neighbours or not."""
    for a, b in combinations(range(overlay.graph.brokers), 2):
        overlay.lay(a, b, LinkShape(delay_ms=1, loss=loss))


def deaths(overlay: Overlay) -> int:
    return sum(isinstance(event, NeighbourLost) for actor in overlay.brokers.values() for _, event in actor.history)


def false_deaths(kind: str, config: BrokerConfig, probes: int, seed: int = 1) -> int:
    """How many living neighbours are dropped while so many of them are pinged, at 10 % loss."""
    overlay = started(generate(kind, 10), config, seed, watched=False)
    losing(overlay, 0.10)
    while probes > 0:
        probes -= sum(len(overlay.neighbours(i)) for i in overlay.brokers)
        overlay.run_for(config.ping_interval_ms * MILLISECOND)
    return deaths(overlay)


# ---- loss is no death


@pytest.mark.parametrize("profile", ["design", "improved"])
def test_at_ten_percent_loss_none_of_ten_thousand_probes_kills_the_living(profile: str) -> None:
    assert false_deaths("full-mesh", settings(profile), 10_000) == 0


def test_three_misses_in_a_row_kill_about_fifty_six() -> None:
    """(1 - 0.9²)³ · 0.9² of 10,000, within three standard deviations."""
    assert 33 <= false_deaths("full-mesh", settings("prototype"), 10_000) <= 80


@pytest.mark.parametrize("kind", ["ring", "line"])
def test_nor_where_there_is_one_helper_or_none(kind: str) -> None:
    assert false_deaths(kind, settings("improved"), 2_000) == 0


# ---- a crash is found out


@pytest.mark.parametrize("profile", ["prototype", "improved"])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("central", "custom")])
def test_whoever_crashes_gets_no_request_after_the_detection_time(kind: str, profile: str) -> None:
    config = replace(settings(profile), walk_ttl=6)
    overlay = started(generate(kind, 6, {"delay_ms": 1}, seed=3), config, watched=False)
    last: Counter[tuple[str, int]] = Counter()

    def note(now: int, data: bytes, source: object, to: tuple[str, int]) -> None:
        if data.startswith(b"3|") or (data.startswith(b"22|") and data.split(b"|", 3)[3].startswith(b"3|")):
            last[to] = now

    overlay.simulator.on_sent.append(note)
    for victim in range(6):
        overlay.kill(victim)
        known = overlay.simulator.now + detection(config) + 10 * MILLISECOND
        for wait in (detection(config) - SECOND, SECOND // 2, SECOND, SECOND):
            overlay.run_for(wait)
            for i in list(overlay.brokers)[:3]:
                overlay.ask(i, questions.request(ABSENT), ONCE)
        assert last[server_address(victim)] <= known
        overlay.restart(victim)
        overlay.run_for(2 * SECOND)
        assert overlay.wrong_neighbours() == {}
    assert sum(last.values())


def test_most_of_all_neighbours_that_crash_at_once_are_found_out_a_little_later() -> None:
    config = settings("improved")
    overlay = started(generate("full-mesh", 10, {"delay_ms": 1}), config)
    for victim in range(6):
        overlay.kill(victim)
    overlay.run_for(detection(config) + 2 * SECOND)
    assert any(overlay.neighbours(i) & set(range(6)) for i in overlay.brokers), "it might be their own failure"
    overlay.run_for((config.suspicion_rounds - 1) * SECOND)
    assert overlay.wrong_neighbours() == {}


@pytest.mark.parametrize(("seconds", "lost"), [(4, 0), (7, 9)])
def test_who_is_cut_off_for_a_while_keeps_its_neighbours_and_is_soon_theirs_again(seconds: int, lost: int) -> None:
    overlay = started(generate("full-mesh", 10, {"delay_ms": 1}), settings("improved"))
    overlay.separate([0], range(1, 10))
    overlay.run_for(seconds * SECOND)
    assert len(overlay.neighbours(0)) == 9
    assert deaths(overlay) == lost
    overlay.heal()
    overlay.run_for(10 * SECOND)
    assert overlay.wrong_neighbours() == {}


def test_a_link_that_is_cut_between_two_that_live_kills_neither() -> None:
    overlay = started(generate("full-mesh", 5, {"delay_ms": 1}), settings("improved"))
    overlay.lay(0, 1, LinkShape(partition=True))
    overlay.run_for(60 * SECOND)
    assert overlay.wrong_neighbours() == {}
    assert overlay.statistics("neighbours_suspected") == [1, 1, 0, 0, 0]


@pytest.mark.parametrize("how", ["kill", "leave"])
def test_a_notice_goes_once_over_each_link_and_no_further_than_its_ttl(how: str) -> None:
    overlay = started(generate("line", 8, {"delay_ms": 1}), BrokerConfig(gone_ttl=2))
    sent: Counter[tuple] = Counter()
    told = set()

    def note(now: int, data: bytes, source: object, to: tuple[str, int]) -> None:
        message = parse(data)
        if isinstance(message, BrokerGone):
            sent[source, to, message.broker, message.timestamp] += 1
            told.add(to)

    overlay.simulator.on_sent.append(note)
    getattr(overlay, how)(3)
    overlay.run_for(10 * SECOND)
    assert set(sent.values()) == {1}
    assert told == {server_address(i) for i in (0, 1, 5, 6)}


# ---- neighbours that are searched for

SEARCHING = {"neighbours_wanted": 4, "neighbours_least": 2}


def delays(overlay: Overlay) -> list[float]:
    """One-way delays (ms) of the links that brokers chose."""
    by_ends = {frozenset(link.ends): link.delay_ms for link in overlay.graph.links}
    return [by_ends[frozenset(edge)] for edge in chosen(overlay).edges]


def chosen(overlay: Overlay) -> nx.Graph:
    return nx.Graph([(i, j) for i in overlay.brokers for j in overlay.neighbours(i)])


def searched(membership: str, delay_by: str, seed: int) -> Overlay:
    params = {"delay_ms": 1, "delay_spread_ms": 50, "delay_by": delay_by}
    graph = generate("full-mesh", 20, params, seed=seed)
    return started(graph, BrokerConfig(membership=membership, **SEARCHING), seed)


@pytest.mark.parametrize("delay_by", ["chance", "distance"])
def test_greedy_search_finds_nearer_neighbours_than_chance_and_both_connect(delay_by: str) -> None:
    greedy, random = (
        [searched(membership, delay_by, seed) for seed in range(2)] for membership in ("greedy", "random")
    )
    for overlay in (*greedy, *random):
        assert nx.is_connected(chosen(overlay))
        assert len(chosen(overlay)) == 20
        assert all(4 <= len(overlay.neighbours(i)) < 19 for i in overlay.brokers)
        assert all(i in overlay.neighbours(j) for i in overlay.brokers for j in overlay.neighbours(i))
    near, far = (fmean(delay for overlay in overlays for delay in delays(overlay)) for overlays in (greedy, random))
    assert near < 0.5 * far


def test_who_reaches_nobody_joins_as_soon_as_somebody_comes_up() -> None:
    overlay = Overlay(generate("full-mesh", 4, {"delay_ms": 5}), BrokerConfig(membership="greedy"))
    Witness(overlay)
    for i in range(4):
        overlay.restart(i)
    for i in range(1, 4):
        overlay.kill(i)
    overlay.run_for(30 * SECOND)
    assert overlay.neighbours(0) == set()
    overlay.restart(2)
    overlay.run_for(SECOND)
    assert (overlay.neighbours(0), overlay.neighbours(2)) == ({2}, {0})
    overlay.restart(1)
    overlay.run_for(SECOND)
    assert overlay.neighbours(1) == {0, 2}


def test_when_half_of_them_crash_the_others_find_each_other_again() -> None:
    overlay = searched("random", "chance", seed=5)
    for victim in range(0, 20, 2):
        overlay.kill(victim)
    overlay.run_for(30 * SECOND)
    assert not any(overlay.neighbours(i) & set(range(0, 20, 2)) for i in overlay.brokers)
    assert all(len(overlay.neighbours(i)) >= 2 for i in overlay.brokers)
    for victim in range(0, 20, 2):
        overlay.restart(victim)
    overlay.simulator.run_while(lambda: not overlay.controller.is_complete(), 30 * SECOND)
    assert nx.is_connected(chosen(overlay))
    assert len(chosen(overlay)) == 20


def test_a_ring_whose_brokers_search_closes_around_one_that_crashed() -> None:
    overlay = started(generate("ring", 8, {"delay_ms": 2}), BrokerConfig(membership="greedy"))
    assert overlay.wrong_neighbours() == {}, "all candidates are taken where there are no more"
    overlay.kill(3)
    overlay.run_for(20 * SECOND)
    assert nx.is_connected(chosen(overlay))
    assert all(len(overlay.neighbours(i)) >= 2 for i in overlay.brokers), "whom they reach names others"
