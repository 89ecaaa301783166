"""Floods and rings over links of unequal delay: all within their hops is found, at a bounded cost to each link."""

from collections import Counter
from random import Random

import pytest

from overlay.core.links import Link, LinkShape
from overlay.core.node import SECOND
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.clients.exchange import Retry
from overlay.topologies import Graph, generate
from telemetry.systems.context_broker.lab.overlay import Overlay
from telemetry.systems.context_broker.lab.proof import random_graph
from telemetry.systems.context_broker.lab.virtual import VirtualArena, address_of

EXACT = ("flood", "expanding-ring")


def arena_of(graph: Graph, delays_ms: list[float], search: str, ttl: int, seed: int = 1) -> VirtualArena:
    arena = VirtualArena(graph, {"search": search, "flood_ttl": ttl}, seed, checked=True)
    for link, delay_ms in zip(graph.links, delays_ms, strict=True):
        arena.simulator.network.lay(address_of(link.a), address_of(link.b), LinkShape(delay_ms=delay_ms))
    return arena


def hops_from(graph: Graph, start: int) -> dict[int, int]:
    """Of every broker that can be reached, the fewest links to it."""
    hops, edge = {start: 0}, [start]
    for broker in edge:
        for other in graph.neighbours()[broker]:
            if other not in hops:
                hops[other] = hops[broker] + 1
                edge.append(other)
    return hops


@pytest.mark.parametrize("search", EXACT)
def test_a_longer_and_faster_way_does_not_shut_out_the_one_with_hops_to_spare(search: str) -> None:
    """Broker 0 asks for what 3 has: over 1 in two hops, of which the first is slow; 1 hears of it over 2 before."""
    graph = Graph(4, (Link(0, 1), Link(0, 2), Link(2, 1), Link(1, 3)))
    arena = arena_of(graph, [50.0, 1.0, 1.0, 1.0], search, ttl=2)
    arena.place(("room", "r1", "climate"), 3)
    told = arena.ask(("room", "r1", "climate"), 0, [3])
    waited = {"flood": 0.0, "expanding-ring": 3.0}[search]  # for the ring of one hop
    assert (told.outcome, told.latency_ms) == ("answered", waited + 102.0)


@pytest.mark.parametrize("search", EXACT)
@pytest.mark.parametrize("seed", range(25))
def test_all_within_the_hops_is_found_however_slow_the_links_are(search: str, seed: int) -> None:
    random = Random(f"{search} {seed}")
    graph, ttl = random_graph(random), random.randint(1, 4)
    delays_ms = [10 ** random.uniform(-1, 2.3) for _ in graph.links]
    arena = arena_of(graph, delays_ms, search, ttl, seed)
    carried: Counter[tuple[object, ...]] = Counter()

    def count(now: int, data: bytes, source: object, to: object) -> None:
        if data.startswith(b"3|") and to in brokers:
            carried[source, to, data.count(b"|")] += 1

    brokers = {address_of(i) for i in range(graph.brokers)}
    arena.simulator.on_sent.append(count)
    for asked in random.sample(range(graph.brokers), min(3, graph.brokers)):
        hops = hops_from(graph, asked)
        holder = random.choice([broker for broker in hops if 0 < hops[broker] <= ttl])
        key = ("room", f"asked of {asked}", "climate")
        arena.place(key, holder)
        carried.clear()
        told = arena.ask(key, asked, [holder])
        assert told.outcome == "answered", (asked, holder, hops[holder], ttl)
        assert max(carried.values(), default=0) <= 1, "each direction, for each number of hops to spare"
        assert arena.ask(("room", "nowhere", "climate"), asked).outcome == "not_found"
    assert arena.total("pending") == 0


def test_a_ring_waits_by_the_slowest_of_its_own_links() -> None:
    """Data two hops away are found by the second ring, although the setting says to wait 3 ms a hop."""
    config = BrokerConfig(search="expanding-ring", lookahead_wait_ms=3, replication="none")
    messages = {}
    for monitoring in (True, False):
        overlay = Overlay(generate("ring", 8, {"delay_ms": 40}), config, monitoring=monitoring)
        overlay.start()
        overlay.put(2, ("room", "r1", "climate"), b"degC=21.5")
        overlay.run_for(3 * SECOND)
        assert overlay.get(0, ("room", "r1", "climate")).outcome == "answered"
        overlay.run_for(3 * SECOND)
        messages[monitoring] = sum(overlay.statistics("lookaheads")) + sum(overlay.statistics("forwards"))
    assert messages[True] == 2 + 4, "two rings, in two directions"
    assert messages[False] > 3 * messages[True]


def test_over_slow_links_the_rings_end_in_time_for_the_flood_that_proves_absence() -> None:
    """Links of 300 ms, timed by pings: seven rings of as many round trips would outlive the query."""
    overlay = Overlay(generate("ring", 4, {"delay_ms": 300}), BrokerConfig(search="expanding-ring"), 1)
    overlay.start()
    overlay.run_for(10 * SECOND)
    absent = overlay.get(0, ("room", "nowhere", "climate"), Retry(again_s=(), give_up_s=9.9))
    assert absent.outcome == "not_found"
    overlay.put(2, ("room", "r1", "climate"), b"degC=21.5")
    assert overlay.get(0, ("room", "r1", "climate"), Retry(again_s=(), give_up_s=9.9)).outcome == "answered"
