"""What a search strategy costs and finds: one query at a time, and the books on it. Pure.

Counterparts: ``telemetry.systems.context_broker.lab.virtual`` and ``telemetry.systems.context_broker.lab.live`` are
overlays in which one query after the other is asked, the same brokers in virtual time and as processes;
``telemetry.systems.context_broker.search_table`` runs many draws and puts intervals on them. Left out are a controller
(neighbours are introduced directly), monitoring, replicas and clients' time-outs.

A *draw* is one topology with some queries; each query asks for an entity of its own, placed at random on so many
brokers, at a random broker that lacks it. It ends when nothing is under way any more. An engine changes none of this:
one seed gives the same topology, the same places and the same askers in both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, Protocol

from overlay.core.addresses import Address
from overlay.core.chance import Chances, derive_seed
from overlay.core.node import MILLISECOND
from overlay.systems.context_broker.broker.broker import Broker
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.broker.search import STRATEGIES
from overlay.systems.context_broker.broker.walks import POLICIES
from overlay.systems.context_broker.introduction import STRUCTURED
from overlay.systems.context_broker.wire.messages import Key
from overlay.topologies import Graph, generate

DELAY_MS = 1.0
"""Of each link, one way."""
WAIT_MS = 3
"""How long a shallow flood is waited for, for each hop: there and back over links of 1 ms, and a little."""
VALID_MS = 10**9
_ASKING = (b"3", b"16", b"28")
_STAMPED = (b"3", b"6", b"16")
"""What carries the timestamp of its query."""
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
    """Settings by the name in the table: every strategy, and the structured network."""
    named: dict[str, Mapping[str, Any]] = {}
    for strategy in STRATEGIES:
        named |= _VARIANTS.get(strategy, {strategy: {"search": strategy}})
    return named | {STRUCTURED: {"arm": "structured"}}


# ---- what an overlay is made of


def config_of(graph: Graph, settings: Mapping[str, Any]) -> BrokerConfig:
    """Of each broker: these settings, and what all arms have in common."""
    fixed = {"replication": "none", "trace_one_in": 0, "lookahead_wait_ms": WAIT_MS}
    return BrokerConfig(**{**fixed, **settings}).among(graph.brokers)


def broker_of(config: BrokerConfig, addresses: Sequence[Address], index: int, seed: int, wall_offset_ns: int) -> Broker:
    """A broker of the overlay, without neighbours yet."""
    return Broker(config, addresses[index], Chances.streams(derive_seed(seed, "broker", index)), wall_offset_ns)


class Arena(Protocol):
    """An overlay in which one query after the other is asked."""

    @property
    def brokers(self) -> int: ...

    @property
    def longest(self) -> int:
        """Bytes of a datagram, so far."""
        ...

    def place(self, key: Key, broker: int) -> None:
        """Let a provider store an entry there; the structured arm puts it where it belongs."""
        ...

    def ask(self, key: Key, broker: int, holders: Iterable[int] = ()) -> Told:
        """One query, until nothing of it is left anywhere."""
        ...

    def total(self, counter: str) -> int:
        """Of all brokers."""
        ...


# ---- the books on one query


@dataclass(slots=True)
class Told:
    """What became of one query."""

    outcome: str = "lost"
    """``answered``, ``not_found``, or ``lost`` where nothing was said."""
    messages: int = 0
    """Requests and lookaheads between brokers (3, 16, and the structured arm's 28), those that came too late included.
    """
    datagrams: int = 0
    """All of it between brokers; of the structured arm, upkeep included."""
    hops: int = 0
    """From the broker asked to the one that had the data, along the way of the answer; of the structured arm, rounds.
    """
    latency_ms: float = 0.0
    """From the request at the broker asked to what it says to the consumer."""


class Books:
    """On the query that is asked, from what the brokers send. What belongs to an earlier one is left out."""

    def __init__(self, consumer: Address) -> None:
        self.longest = 0
        """Bytes of a datagram, whoever's."""
        self.began = 0
        """When the request was at the broker asked (ns)."""
        self.is_told = True
        """Whether the consumer has its answer, or there is no request."""
        self.consumer = consumer
        self._told: Told | None = None
        self._stamp = self._key = b""
        self._holders: frozenset[Address] = frozenset()
        self._lengths: dict[tuple[Address, bytes], int] = {}
        """Of answers on their way: to whom, and how many hops they started with."""

    def open(self, stamp: int, key: Key, holders: Iterable[Address], now: int) -> Told:
        """A query with this timestamp begins; what it is told is filled in as it comes."""
        self._told, self.began, self.is_told = Told(), now, False
        self._stamp, self._key = str(stamp).encode(), f"|{'|'.join(key)}|".encode()
        self._holders, self._lengths = frozenset(holders), {}
        return self._told

    def close(self) -> None:
        """Nothing of it is under way any more."""
        self._told, self.is_told = None, True

    def note_sent(self, now: int, data: bytes, source: Address, to: Address) -> None:
        """A broker has sent something."""
        self.longest = max(self.longest, len(data))
        told, code = self._told, data[: data.find(b"|")]
        if told is None or not self._is_of_query(code, data):
            return
        if code == b"4":
            self._note_answer(told, data, source, to)
        if to != self.consumer:
            told.datagrams += 1
            told.messages += code in _ASKING
        elif code in (b"4", b"6") and not self.is_told:
            self.is_told = True
            told.outcome = "answered" if code == b"4" else "not_found"
            told.latency_ms = (now - self.began) / MILLISECOND

    def _is_of_query(self, code: bytes, data: bytes) -> bool:
        if code in _STAMPED:
            return data.split(b"|", 2)[1] == self._stamp
        return code != b"4" or self._key in data

    def _note_answer(self, told: Told, data: bytes, source: Address, to: Address) -> None:
        """An answer loses its last hop at each broker that passes it back; how many it had, its holder knew."""
        if source in self._holders:
            length = (data.count(b"|") - _BARE_FIELDS) // 2
        else:
            length = self._lengths.get((source, data + f"|{to[0]}|{to[1]}".encode()), 0)
        if to != self.consumer:
            self._lengths[to, data] = length
        elif not self.is_told:
            told.hops = length


# ---- draws


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


def drawn(arm: str, topology: str, brokers: int, seed: int) -> tuple[Graph, Mapping[str, Any], int]:
    """What an arena is opened with: the topology of this seed, the arm's settings, and the seed."""
    kind, params = TOPOLOGIES[topology]
    return generate(kind, brokers, params, seed), arms()[arm], seed


def run_draws(arena: Arena, seed: int, queries: Mapping[int, int]) -> dict[int, Draw]:
    """One draw for each number of holders; ``queries`` says how many are asked of each."""
    return {holders: _run_draw(arena, holders, seed, count) for holders, count in queries.items()}


def _run_draw(arena: Arena, holders: int, seed: int, queries: int) -> Draw:
    random = Random(derive_seed(seed, "queries", arena.brokers, holders))
    draw, asked = Draw(), 0
    while draw.queries < queries:
        asked += 1
        key = ("room", f"seed {seed}, {holders} of {arena.brokers}, {asked}", "climate")
        *placed, broker = random.sample(range(arena.brokers), holders + 1)
        for holder in placed:
            arena.place(key, holder)
        told = arena.ask(key, broker, placed)
        if told.outcome == "answered" and not told.messages:
            continue  # the structured arm put it on this very broker
        draw.add(told)
    draw.longest = arena.longest
    return draw
