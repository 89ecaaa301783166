"""What brokers promise on bad networks, measured in virtual time: rows with a target and a figure.

Ten brokers on a Waxman overlay, every invariant watched. A row is a function; its docstring says what is promised.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random

import networkx as nx

from overlay.core.links import PROFILES, LinkShape
from overlay.core.node import MILLISECOND, SECOND
from overlay.sim.world import server_address
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.broker.events import NeighbourLost
from overlay.systems.context_broker.clients import questions
from overlay.systems.context_broker.clients.exchange import Exchange, Retry
from overlay.systems.context_broker.profiles import resolved
from overlay.topologies import Graph, generate
from telemetry.systems.context_broker.lab.overlay import Overlay
from tests.sim.witness import Witness
from tests.swarm.answers import Answers
from tests.swarm.books import Books
from tests.swarm.causes import Causes
from tests.swarm.keeping import Keeping

KEY = ("room", "r1", "climate")
BROKERS = 10
PATIENT = Retry((1.0, 2.0, 4.0, 8.0, 16.0), 30.0)
TEN_TRIES = Retry(tuple(float(at) for at in range(3, 30, 3)), 30.0)
FINDING = BrokerConfig(walk_policy="backtrack", replication="none", trace_one_in=0)
"""Finds what there is; a plain walk may miss it on a perfect network, too."""


@dataclass(frozen=True)
class Row:
    figure: str
    is_held: bool


def started(config: BrokerConfig, seed: int, *, monitoring: bool = False, local: LinkShape | None = None) -> Overlay:
    graph = generate("waxman", BROKERS, {"mean_degree": 4, "delay_ms": 1}, seed)
    overlay = Overlay(graph, config, seed, monitoring=monitoring, **({} if local is None else {"local": local}))
    for watcher in (Witness, Answers, Books, Causes, Keeping):
        watcher(overlay)
    overlay.start()
    return overlay


def shaped(overlay: Overlay, shape: LinkShape) -> None:
    for link in overlay.graph.links:
        overlay.lay(*link.ends, shape)


def ask(overlay: Overlay, requests: int, gap: int, retry: Retry) -> list[Exchange]:
    """Of brokers that are up, in turn; until the last is over."""
    exchanges: list[Exchange] = []

    def one(i: int) -> None:
        up = sorted(overlay.brokers)
        exchanges.append(overlay.ask(up[i % len(up)], questions.request(KEY), retry))

    for i in range(requests):
        overlay.at(overlay.simulator.now + i * gap, lambda i=i: one(i))
    overlay.run_for(requests * gap + round((retry.give_up_s + 1) * SECOND))
    assert all(exchange.is_over for exchange in exchanges)
    return exchanges


def answered(exchanges: list[Exchange], least: float) -> Row:
    counts = Counter(exchange.outcome for exchange in exchanges)
    share = counts["answered"] / len(exchanges)
    return Row(f"{counts['answered']:,} of {len(exchanges):,} ({share:.2%})", share >= least)


# ---- rows


def t1_burst_loss(seed: int) -> Row:
    """At 30 % loss in bursts (L1) 50 of 50 requests are answered within 30 s, with acknowledgements between brokers."""
    overlay = started(replace(FINDING, hop_ack=True), seed)
    overlay.put(seed % BROKERS, KEY, b"degC=21.5", valid_ms=3_600_000)
    shaped(overlay, PROFILES["L1"])
    return answered(ask(overlay, 50, SECOND // 5, PATIENT), 1)


def t1_two_percent(seed: int) -> Row:
    """At 2 % loss (L2) 1,000 of 1,000 are answered, with acknowledgements between brokers."""
    overlay = started(replace(FINDING, hop_ack=True), seed)
    overlay.put(seed % BROKERS, KEY, b"degC=21.5", valid_ms=3_600_000)
    shaped(overlay, PROFILES["L2"])
    return answered(ask(overlay, 1000, SECOND // 20, PATIENT), 1)


def t1_without_acknowledgements(seed: int) -> Row:
    """At 10 % loss, each message sent once, 99.9 % of 2,000 are answered with ten tries of the client and replicas."""
    overlay = started(replace(FINDING, replication="random"), seed)
    overlay.put(seed % BROKERS, KEY, b"degC=21.5", valid_ms=3_600_000)
    shaped(overlay, LinkShape(delay_ms=1, loss=0.10))
    return answered(ask(overlay, 2000, SECOND // 20, TEN_TRIES), 0.999)


def t2_duplication(seed: int) -> Row:
    """With 25 % duplicated, up to 5 copies, each of 500 requests has one end and nothing happens twice."""
    twice = LinkShape(delay_ms=1, duplication=0.25)
    overlay = started(replace(FINDING, hop_ack=True), seed, local=replace(twice, delay_ms=0.05))
    overlay.put(seed % BROKERS, KEY, b"degC=21.5", valid_ms=3_600_000)
    shaped(overlay, twice)
    return answered(ask(overlay, 500, SECOND // 20, PATIENT), 1)


def t3_reordering(seed: int) -> Row:
    """With 25 % delayed by 50 ms, of 10,000 updates none is overwritten by an older one."""
    overlay = started(FINDING, seed, local=LinkShape(delay_ms=0.05, reordering=0.25))
    exchanges: list[Exchange] = []
    for i in range(10_000):
        update = questions.update("U", "p1", KEY, 120_000, b"n=%d" % i)
        overlay.at(overlay.simulator.now + i * MILLISECOND, lambda q=update: exchanges.append(overlay.ask(0, q)))
    overlay.run_for(11 * SECOND)
    overlay.finish(exchanges)
    last = overlay.get(0, KEY).reply.payload
    late = overlay.statistics("outdated")[0]
    return Row(f"{late:,} came late and changed nothing; the last value is {last.decode()}", last == b"n=9999")


def t6_partition(seed: int) -> Row:
    """After half a minute in halves neighbours are right within 15 s, and 99.9 % of 1,000 are answered from then on."""
    return healed(seed, lambda overlay: overlay.separate(range(5), range(5, BROKERS)), lambda overlay: overlay.heal())


def t6_one_way(seed: int) -> Row:
    """The same where one half is heard and does not hear."""

    def lay(shape: LinkShape) -> Callable[[Overlay], None]:
        def act(overlay: Overlay) -> None:
            for a, b in (link.ends for link in overlay.graph.links):
                if (a < 5) != (b < 5):
                    ways = server_address(min(a, b)), server_address(max(a, b))
                    overlay.simulator.network.lay_one_way(*ways, shape)

        return act

    return healed(seed, lay(LinkShape(partition=True)), lay(LinkShape(delay_ms=1)))


def healed(seed: int, begin: Callable[[Overlay], None], end: Callable[[Overlay], None]) -> Row:
    overlay = started(replace(FINDING, hop_ack=True), seed, monitoring=True)
    begin(overlay)
    overlay.run_for(30 * SECOND)
    end(overlay)
    since = overlay.simulator.now
    while overlay.wrong_neighbours() and overlay.simulator.now - since < 60 * SECOND:
        overlay.run_for(SECOND // 10)
    took = (overlay.simulator.now - since) / SECOND
    overlay.put(seed % BROKERS, KEY, b"degC=21.5", valid_ms=3_600_000)
    row = answered(ask(overlay, 1000, SECOND // 20, Retry()), 0.999)
    return Row(f"right after {took:.1f} s; {row.figure}", row.is_held and took <= 15)


def t7_kill(victims: int) -> Callable[[int], Row]:
    def row(seed: int) -> Row:
        config = BrokerConfig(**resolved({"profile": "improved"}) | {"replication": "random", "replication_index": 2})
        overlay = started(config, seed, monitoring=True)
        dead = set(drawn(overlay.graph, victims, seed))
        overlay.put(max(overlay.brokers.keys() - dead), KEY, b"degC=21.5", valid_ms=3_600_000)
        for victim in dead:
            overlay.kill(victim)
        since = overlay.simulator.now
        found = answered(ask(overlay, 1000, 10 * MILLISECOND, Retry()), 0.99)
        lost = [
            at - since
            for actor in overlay.brokers.values()
            for at, event in actor.history
            if isinstance(event, NeighbourLost) and at > since
        ]
        slowest = max(lost, default=0) / SECOND
        gone = not any(overlay.neighbours(i) & dead for i in overlay.brokers)
        return Row(f"dropped within {slowest:.1f} s; {found.figure}", gone and slowest <= 6 and found.is_held)

    row.__doc__ = f"{victims} of 10 killed under 100 requests/s are dropped within 6 s, and the others answer 99 %."
    return row


def drawn(graph: Graph, victims: int, seed: int) -> list[int]:
    """Victims without whom the others are still connected: what is cut off cannot be found."""
    links, random = nx.Graph([link.ends for link in graph.links]), Random(seed)
    while True:
        dead = random.sample(range(graph.brokers), victims)
        if nx.is_connected(links.subgraph(set(links) - set(dead))):
            return dead


ROWS: dict[str, Callable[[int], Row]] = {
    "T1 loss, L1": t1_burst_loss,
    "T1 loss, L2": t1_two_percent,
    "T1 loss, 10 %": t1_without_acknowledgements,
    "T2 duplication": t2_duplication,
    "T3 reordering": t3_reordering,
    "T6 partition": t6_partition,
    "T6 one way": t6_one_way,
    **{f"T7 kill {victims}": t7_kill(victims) for victims in range(1, 6)},
}
