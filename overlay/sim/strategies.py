"""What each search strategy costs and finds: one query at a time over an overlay of identical links, in virtual time.

Counterpart: ``telemetry.search_table`` runs many draws and puts intervals on them. The brokers are the ones that run
live; left out are a controller (neighbours are introduced directly), monitoring, replicas and clients' time-outs.

A *draw* is one topology with some queries; each query asks for an entity of its own, placed at random on so many
brokers, at a random broker that lacks it. It ends when nothing is under way any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from overlay.addresses import Address, format_address
from overlay.broker.broker import Broker
from overlay.broker.config import BrokerConfig
from overlay.broker.messages import ContextRequest, ContextUpdateAdvertisement, Key
from overlay.broker.search import STRATEGIES
from overlay.broker.walks import POLICIES
from overlay.broker.wire import encode
from overlay.chance import Stream, derive_seed
from overlay.links import Link, LinkShape
from overlay.node import MILLISECOND, SECOND
from overlay.sim.actors import NodeActor
from overlay.sim.network import Network
from overlay.sim.simulator import WALL_OFFSET_NS, Outgoing, Simulator
from overlay.topologies import Graph, generate

DELAY_MS = 1.0
WAIT_MS = 3
"""How long a shallow flood is waited for, for each hop: there and back over links of 1 ms, and a little."""
CONSUMER = ("127.4.0.1", 5000)
PROVIDER = ("127.4.0.2", 5000)
VALID_MS = 10**9
QUIET = 12 * SECOND
"""Longer than a broker remembers a forwarded request."""
SETTLING = 15 * SECOND
"""Until the structured arm has filled its tables: three of its refreshes. After one, 1 key in 60 is misplaced."""

STRUCTURED = "structured"
_ASKING = (b"3", b"16", b"28")
_BARE_FIELDS = 9
"""Separators in a Response without hops, whose payload has none."""

TOPOLOGIES: dict[str, tuple[str, Mapping[str, Any]]] = {
    "ring": ("ring", {}),
    "full mesh": ("full-mesh", {}),
    "Waxman 2": ("waxman", {"mean_degree": 2.0}),
    "Waxman 4": ("waxman", {"mean_degree": 4.0}),
    "Barabási–Albert": ("barabasi-albert", {}),
}
"""Kind and parameters by the name in the table; the number is the mean degree."""

_VARIANTS: dict[str, dict[str, Mapping[str, Any]]] = {
    "walk": {f"walk, {policy}": {"walk_policy": policy} for policy in POLICIES},
    "lookahead": {f"lookahead {ttl}": {"search": "lookahead", "lookahead_ttl": ttl} for ttl in (1, 2)},
}


def arms() -> dict[str, Mapping[str, Any]]:
    """Settings by the name in the table: every strategy that there is, and the structured rival."""
    named: dict[str, Mapping[str, Any]] = {}
    for strategy in STRATEGIES:
        named |= _VARIANTS.get(strategy, {strategy: {"search": strategy}})
    return named | {STRUCTURED: {"arm": "structured"}}


@dataclass(slots=True)
class Told:
    """What became of one query."""

    outcome: str = "lost"
    """``answered``, ``not_found``, or ``lost`` where nothing was said."""
    messages: int = 0
    """Requests and lookaheads between brokers (3, 16, and the structured arm's 28)."""
    datagrams: int = 0
    """All between brokers while it lasted; of the structured arm, upkeep included."""
    hops: int = 0
    """From the broker asked to the one that had the data, along the way of the answer; of the structured arm, rounds.
    """
    latency_ms: float = 0.0
    """From the request at the broker asked to what it says to the consumer."""


@dataclass(slots=True)
class Draw:
    """Sums over the queries of one draw."""

    queries: int = 0
    answered: int = 0
    not_found: int = 0
    lost: int = 0
    messages: int = 0
    datagrams: int = 0
    hops: int = 0
    latency_ms: float = 0.0
    most_messages: int = 0
    """For one query."""
    longest: int = 0
    """Bytes of a datagram."""

    def add(self, told: Told) -> None:
        self.queries += 1
        setattr(self, told.outcome, getattr(self, told.outcome) + 1)
        self.messages += told.messages
        self.datagrams += told.datagrams
        self.most_messages = max(self.most_messages, told.messages)
        if told.outcome == "answered":
            self.hops += told.hops
            self.latency_ms += told.latency_ms


class LeanActor(NodeActor):
    """A broker that is not checked after each step, which takes longer than the step."""

    def step(self, now: int) -> Iterator[Outgoing]:
        timer = self.node.next_timer()
        if timer is not None and timer <= now:
            self.node.handle_timer(now)
        self.node.events()
        return ((data, self.address, to) for data, to in self.node.datagrams_to_send())


@dataclass(slots=True)
class _Watch:
    """One query while it lasts."""

    holders: frozenset[Address] = frozenset()
    told: Told = field(default_factory=Told)
    began: int = 0
    is_over: bool = False
    lengths: dict[tuple[Address, bytes], int] = field(default_factory=dict)
    """Of answers on their way: to whom, and how many hops they started with."""


class Arena:
    """An overlay in which one query after the other is asked. ``checked`` asserts the brokers' invariants."""

    def __init__(self, graph: Graph, settings: Mapping[str, Any], seed: int, *, checked: bool = False) -> None:
        fixed = {"replication": "none", "trace_one_in": 0, "lookahead_wait_ms": WAIT_MS, "walk_ttl": 4 * graph.brokers}
        self.config = BrokerConfig(**{**fixed, **settings})
        self.longest = 0
        """Bytes of a datagram."""
        self._sent_count = 0
        self._watch = _Watch(is_over=True)
        self._stamp = 0
        network = Network(derive_seed(seed, "network"), LinkShape(delay_ms=DELAY_MS))
        self.simulator = Simulator(network, strict=False)  # nobody listens where the consumer is
        self.simulator.on_sent.append(self._note_sent)
        actor = NodeActor if checked else LeanActor
        self._brokers = [
            Broker(self.config, address_of(i), Stream(derive_seed(seed, "broker", i)), WALL_OFFSET_NS)
            for i in range(graph.brokers)
        ]
        self._actors = [actor(broker.address, broker) for broker in self._brokers]
        self._introduce(graph)

    def place(self, key: Key, broker: int) -> None:
        """Let a provider store an entry there; the structured arm puts it where it belongs."""
        stamp = self._next_stamp()
        update = ContextUpdateAdvertisement(stamp, "A", "p1", *key, stamp - 1000, stamp + VALID_MS, b"x=1")
        self._feed(broker, encode(update), PROVIDER)
        self._run_until_quiet()

    def ask(self, key: Key, broker: int, holders: Iterable[int] = ()) -> Told:
        """One query, until nothing of it is left anywhere."""
        told = Told()
        self._watch = _Watch(frozenset(map(address_of, holders)), told, self.simulator.now)
        rounds = self._rounds(broker)
        self._feed(broker, encode(ContextRequest(self._next_stamp(), *key)), CONSUMER)
        self._run_until_quiet()
        if self.config.arm == STRUCTURED:
            told.hops = self._rounds(broker) - rounds
        self._watch = _Watch(is_over=True)
        if self.config.arm != STRUCTURED:  # whose lookups leave nothing behind, and whose upkeep never rests
            self.simulator.run_for(QUIET)
        return told

    def total(self, counter: str) -> int:
        """Of all brokers."""
        return sum(broker.statistics(self.simulator.now)[counter] for broker in self._brokers)

    # ---- parts of the above

    def _introduce(self, graph: Graph) -> None:
        for i, neighbours in enumerate(graph.neighbours()):
            self.simulator.listen(address_of(i), self._actors[i])
            for j in sorted(neighbours):
                order = f"8|1|{format_address(address_of(i))}|*".encode()
                self._brokers[i].receive_datagram(order, address_of(j), self.simulator.now)
            self._brokers[i].datagrams_to_send()  # acknowledgements, which nobody waits for
        if self.config.arm == STRUCTURED:
            self.simulator.run_for(SETTLING)

    def _feed(self, broker: int, data: bytes, source: Address) -> None:
        self._brokers[broker].receive_datagram(data, source, self.simulator.now)
        self.simulator.wake(self._actors[broker])
        self.simulator.run_for(0)

    def _run_until_quiet(self) -> None:
        """Until no datagram is under way and the consumer was told; or until that can no longer be."""
        try:
            while self._is_under_way():
                self.simulator.run_while(self._is_under_way, QUIET)
                self.simulator.run_for(0)  # let those who have just received something answer it
        except TimeoutError:
            self._watch.is_over = True

    def _is_under_way(self) -> bool:
        simulator = self.simulator
        return self._sent_count > simulator.delivered + simulator.to_nobody or not self._watch.is_over

    def _rounds(self, broker: int) -> int:
        return self._brokers[broker].statistics(self.simulator.now)["dht_rounds"]

    def _next_stamp(self) -> int:
        self._stamp = max(self._stamp + 1, (self.simulator.now + WALL_OFFSET_NS) // MILLISECOND)
        return self._stamp

    def _note_sent(self, now: int, data: bytes, source: Address, to: Address) -> None:
        self._sent_count += 1
        self.longest = max(self.longest, len(data))
        watch, code = self._watch, data[: data.find(b"|")]
        if watch.is_over and to != CONSUMER:
            return
        if to != CONSUMER:
            watch.told.datagrams += 1
            watch.told.messages += code in _ASKING
        if code == b"4":
            self._note_answer(data, source, to)
        if to == CONSUMER and code in (b"4", b"6") and not watch.is_over:
            watch.is_over = True
            watch.told.outcome = "answered" if code == b"4" else "not_found"
            watch.told.latency_ms = (now - watch.began) / MILLISECOND

    def _note_answer(self, data: bytes, source: Address, to: Address) -> None:
        """An answer loses its last hop at each broker that passes it back; how many it had, its holder knew."""
        watch = self._watch
        if source in watch.holders:
            length = (data.count(b"|") - _BARE_FIELDS) // 2
        else:
            length = watch.lengths.get((source, data + f"|{to[0]}|{to[1]}".encode()), 0)
        if to == CONSUMER:
            watch.told.hops = length
        else:
            watch.lengths[to, data] = length


def address_of(broker: int) -> Address:
    """Each is a host of its own, within loopback, which open brokers trust by default."""
    return f"127.1.{broker // 250}.{broker % 250 + 1}", 7000


def run_draws(arm: str, topology: str, brokers: int, seed: int, queries: Mapping[int, int]) -> dict[int, Draw]:
    """On one topology, one draw for each number of holders; ``queries`` says how many are asked of each."""
    kind, params = TOPOLOGIES[topology]
    arena = Arena(generate(kind, brokers, params, seed), arms()[arm], seed)
    return {holders: _run_draw(arena, brokers, holders, seed, count) for holders, count in queries.items()}


def _run_draw(arena: Arena, brokers: int, holders: int, seed: int, queries: int) -> Draw:
    random = Random(derive_seed(seed, "queries", brokers, holders))
    draw, asked = Draw(), 0
    while draw.queries < queries:
        asked += 1
        key = ("room", f"seed {seed}, {holders} of {brokers}, {asked}", "climate")
        *placed, broker = random.sample(range(brokers), holders + 1)
        for holder in placed:
            arena.place(key, holder)
        told = arena.ask(key, broker, placed)
        if told.outcome == "answered" and not told.datagrams:
            continue  # the structured arm put it on this very broker
        draw.add(told)
    draw.longest = arena.longest
    return draw


# ---- what backtrack promises


def random_graph(random: Random) -> Graph:
    """A connected graph of 2 to 30 brokers: a tree, or a random graph of any density, made connected by a tree."""
    brokers = random.randint(2, 30)
    tree = {(random.randrange(i), i) for i in range(1, brokers)}
    density = random.choice([0.0, 0.0, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0])
    more = {(a, b) for b in range(brokers) for a in range(b) if random.random() < density}
    order = random.sample(range(brokers), brokers)
    return Graph(brokers, tuple(Link(order[a], order[b]) for a, b in sorted(tree | more)))


def prove(graphs: int, first: int = 0, settings: Mapping[str, Any] | None = None) -> list[str]:
    """Ask on each of so many random graphs for what one broker has and for what none has; sentences on what failed.

    A query is to be answered or proved not found, with two messages on a link at most.
    """
    failed = []
    for seed in range(first, first + graphs):
        graph = random_graph(Random(derive_seed(seed, "graph")))
        arena = Arena(graph, {"walk_policy": "backtrack", **(settings or {})}, seed, checked=graph.brokers < 12)
        random = Random(derive_seed(seed, "queries"))
        holder, asked = random.sample(range(graph.brokers), 2)
        arena.place(("room", "there", "climate"), holder)
        for entity, outcome in (("there", "answered"), ("nowhere", "not_found")):
            told = arena.ask(("room", entity, "climate"), asked, (holder,))
            if told.outcome != outcome:
                failed.append(f"graph {seed}: what is {entity} was {told.outcome}")
            if told.messages > 2 * len(graph.links):
                failed.append(f"graph {seed}: {told.messages} messages on {len(graph.links)} links")
    return failed
