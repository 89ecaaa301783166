"""An overlay of identical links in virtual time, in which one query after the other is asked.

Counterparts: ``telemetry.systems.context_broker.lab.draws`` says what is asked and does the books;
``telemetry.systems.context_broker.lab.live`` is the same live.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from overlay.core.addresses import Address
from overlay.core.chance import derive_seed
from overlay.core.links import LinkShape
from overlay.core.node import SECOND
from overlay.sim.actors import CheckedActor, NodeActor
from overlay.sim.network import Network
from overlay.sim.simulator import WALL_OFFSET_NS, Simulator
from overlay.systems.context_broker.clients.exchange import Timestamps, WallClock
from overlay.systems.context_broker.introduction import SETTLING, STRUCTURED, introduce
from overlay.systems.context_broker.wire.codec import encode
from overlay.systems.context_broker.wire.messages import ContextRequest, ContextUpdateAdvertisement, Key
from overlay.topologies import Graph
from telemetry.systems.context_broker.lab.draws import (
    DELAY_MS,
    VALID_MS,
    Books,
    Draw,
    Told,
    broker_of,
    config_of,
    drawn,
    run_draws,
)

CONSUMER = ("127.4.0.1", 5000)
PROVIDER = ("127.4.0.2", 5000)
QUIET = 12 * SECOND
"""Longer than a broker remembers a forwarded request."""


class VirtualArena:
    """An ``Arena``. ``checked`` asserts the brokers' invariants."""

    def __init__(self, graph: Graph, settings: Mapping[str, Any], seed: int, *, checked: bool = False) -> None:
        self.config = config_of(graph, settings)
        network = Network(derive_seed(seed, "network"), LinkShape(delay_ms=DELAY_MS))
        self.simulator = Simulator(network, strict=False)  # no server at the consumer's address
        self.simulator.on_sent += [self._count_sent]
        self._sent_count = 0
        self._books = Books(CONSUMER)
        self._stamps = Timestamps(WallClock(WALL_OFFSET_NS))
        addresses = [address_of(i) for i in range(graph.brokers)]
        self._brokers = [broker_of(self.config, addresses, i, seed, WALL_OFFSET_NS) for i in range(graph.brokers)]
        kind = CheckedActor if checked else NodeActor
        self._actors = [kind(broker.address, broker) for broker in self._brokers]
        for broker, actor, neighbours in zip(self._brokers, self._actors, graph.neighbours(), strict=True):
            self.simulator.listen(broker.address, actor)
            introduce(broker, [addresses[j] for j in sorted(neighbours)], self.simulator.now)
        if self.config.arm == STRUCTURED:
            self.simulator.run_for(SETTLING)

    @property
    def brokers(self) -> int:
        return len(self._brokers)

    @property
    def longest(self) -> int:
        return self._books.longest

    def place(self, key: Key, broker: int) -> None:
        stamp = self._stamps.next(self.simulator.now)
        update = ContextUpdateAdvertisement(stamp, "A", "p1", *key, stamp - 1000, stamp + VALID_MS, b"x=1")
        self._feed(broker, encode(update), PROVIDER)
        self._run_until_quiet()

    def ask(self, key: Key, broker: int, holders: Iterable[int] = ()) -> Told:
        rounds, stamp = self._rounds(broker), self._stamps.next(self.simulator.now)
        told = self._books.open(stamp, key, map(address_of, holders), self.simulator.now)
        self._feed(broker, encode(ContextRequest(stamp, *key)), CONSUMER)
        self._run_until_quiet()
        self._books.close()
        if self.config.arm == STRUCTURED:
            told.hops = self._rounds(broker) - rounds
        else:  # the structured arm's lookups leave nothing behind, and its upkeep never rests
            self.simulator.run_for(QUIET)
        return told

    def total(self, counter: str) -> int:
        return sum(broker.statistics(self.simulator.now)[counter] for broker in self._brokers)

    # ---- parts of the above

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
            return

    def _is_under_way(self) -> bool:
        simulator = self.simulator
        return self._sent_count > simulator.delivered + simulator.to_nobody or not self._books.is_told

    def _rounds(self, broker: int) -> int:
        return self._brokers[broker].statistics(self.simulator.now)["dht_rounds"]

    def _count_sent(self, now: int, data: bytes, source: Address, to: Address) -> None:
        self._sent_count += 1
        self._books.note_sent(now, data, source, to)


def address_of(broker: int) -> Address:
    """Each is a host of its own, within loopback, which open brokers trust by default."""
    return f"127.1.{broker // 250}.{broker % 250 + 1}", 7000


def run_virtual(arm: str, topology: str, brokers: int, seed: int, queries: Mapping[int, int]) -> dict[int, Draw]:
    """The draws of one arm on one topology; see ``run_draws``."""
    return run_draws(VirtualArena(*drawn(arm, topology, brokers, seed)), seed, queries)
