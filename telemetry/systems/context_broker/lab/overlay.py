"""A whole overlay of brokers in virtual time, to be asked and told one thing after the other.

::

    overlay = Overlay(generate("ring", 10), seed=7)
    overlay.start()                                     # joins per link, then monitoring, as a launcher orders them
    overlay.put(3, ("room", "r1", "climate"), b"degC=21.5")
    overlay.get(8, ("room", "r1", "climate")).reply     # a ContextResponse
    overlay.kill(3)
    overlay.run_for(5 * SECOND)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from overlay.core.node import SECOND
from overlay.load.tally import Tally
from overlay.load.windows import Windows
from overlay.sim.actors import NodeActor, Ports
from overlay.sim.simulator import WALL_OFFSET_NS
from overlay.sim.world import World, server_address
from overlay.systems.context_broker.broker.broker import Broker
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.clients import questions
from overlay.systems.context_broker.clients.exchange import Exchange, Retry, Timestamps, WallClock
from overlay.systems.context_broker.clients.lanes import MAX_LANES
from overlay.systems.context_broker.clients.questions import Question
from overlay.systems.context_broker.clients.scheduled import Fleet, ScheduledFleet, make_clients
from overlay.systems.context_broker.system import SYSTEM, Settings
from overlay.systems.context_broker.wire.messages import Key
from overlay.systems.context_broker.workload import Workload
from overlay.systems.contract import Setup
from overlay.topologies import Graph

ASKER_HOST = "127.2.0.2"


class Overlay(World):
    """``config`` is every broker's; a ``walk_ttl`` of 0 becomes 4 x the number of brokers, as a launcher has it.

    ``options`` are those of ``World``.
    """

    def __init__(
        self,
        graph: Graph,
        config: BrokerConfig | None = None,
        seed: int = 0,
        *,
        monitoring: bool = True,
        **options: Any,
    ) -> None:
        super().__init__(SYSTEM, Setup(Settings(config or BrokerConfig(), monitoring), None, graph, seed), **options)
        self._ports = Ports(ASKER_HOST)
        self._timestamps = Timestamps(WallClock(WALL_OFFSET_NS))

    def broker(self, index: int) -> Broker:
        broker: Broker = self.server(index)
        return broker

    def neighbours(self, index: int) -> set[int]:
        """The neighbours that a broker believes in, by index."""
        return {self._index_of[address] for address in self.broker(index).neighbours}

    def wrong_neighbours(self) -> dict[int, tuple[set[int], set[int]]]:
        """The brokers that are up whose neighbours are not those of the topology that are up: (has, should have)."""
        wanted = self.graph.neighbours()
        pairs = {i: (self.neighbours(i), {j for j in wanted[i] if j in self.brokers}) for i in self.brokers}
        return {i: pair for i, pair in pairs.items() if pair[0] != pair[1]}

    def ask(self, index: int, question: Question, retry: Retry | None = None) -> Exchange:
        """Begin an exchange with a broker, from a fresh port; it goes on while the simulator runs."""
        address = self._ports.fresh()
        exchange = Exchange(question, server_address(index), self.simulator.now, self._timestamps, retry or Retry())
        self.simulator.listen(address, NodeActor(address, exchange))
        return exchange

    def finish(self, exchanges: Sequence[Exchange]) -> None:
        """Run until every one of these is over; each is, by its own deadline."""
        self.simulator.run_while(lambda: not all(e.is_over for e in exchanges), 3600 * SECOND)

    def put(self, index: int, key: Key, payload: bytes, provider: str = "p1", valid_ms: int = 120_000) -> Exchange:
        exchange = self.ask(index, questions.update("A", provider, key, valid_ms, payload))
        self.finish([exchange])
        return exchange

    def get(self, index: int, key: Key, retry: Retry | None = None) -> Exchange:
        exchange = self.ask(index, questions.request(key), retry)
        self.finish([exchange])
        return exchange

    def add_clients(self, workload: Workload) -> Tally:
        """The clients of a workload that starts now."""
        now, tally = self.simulator.now, Tally()
        setup = replace(self.setup, workload=workload)
        windows = Windows.of(self.system.schedule(setup), 0, now)
        for process, plans in self.system.plan_clients(setup).items():
            shared = Fleet(workload, windows, WallClock(WALL_OFFSET_NS), tally, max_lanes=MAX_LANES)
            clients = make_clients(plans, self._addresses, shared, self.seed)
            self.add_fleet(process, ScheduledFleet(clients, shared))
        return tally
