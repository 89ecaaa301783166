"""A whole overlay in one object: brokers on a topology, a controller that orders them, clients that ask, and faults.

::

    overlay = Overlay(generate("ring", 10), seed=7)
    overlay.start()                                     # joins per link, then monitoring, as a launcher orders them
    overlay.put(3, ("room", "r1", "climate"), b"degC=21.5")
    overlay.get(8, ("room", "r1", "climate")).reply     # a ContextResponse
    overlay.kill(3)
    overlay.run_for(5 * SECOND)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from overlay.core.addresses import Address
from overlay.core.chance import derive_seed
from overlay.core.links import LinkShape
from overlay.core.node import SECOND
from overlay.faults.churn import LEAVE, UP, Change, schedule
from overlay.journal.facts import Event, Sample
from overlay.load.tally import Tally
from overlay.sim.actors import CheckedActor, ClientActor, ControllerActor, NodeActor, Ports, Stopped
from overlay.sim.network import LOCAL, Network
from overlay.sim.recorders import fresh_broker
from overlay.sim.simulator import WALL_OFFSET_NS, Simulator
from overlay.systems.context_broker.assembly import Assembly
from overlay.systems.context_broker.broker.broker import Broker
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.broker.joining import FAREWELL_GAP, FAREWELLS
from overlay.systems.context_broker.broker.membership import GIVEN
from overlay.systems.context_broker.broker.messages import Key
from overlay.systems.context_broker.clients import questions
from overlay.systems.context_broker.clients.exchange import Exchange, Retry, Timestamps, WallClock
from overlay.systems.context_broker.clients.questions import Question
from overlay.systems.context_broker.clients.scheduled import Fleet, ScheduledClient, Windows, make_clients
from overlay.systems.context_broker.introduction import introduce
from overlay.systems.context_broker.workload import ClientPlan, Workload, plan_clients
from overlay.topologies import Graph

START_LIMIT = 120 * SECOND
CONTROLLER_HOST = "127.2.0.1"
ASKER_HOST = "127.2.0.2"


def broker_address(index: int) -> Address:
    """Each broker is a host of its own, within loopback, which open brokers trust by default."""
    return _host(1, index), 7000


def _host(network: int, number: int) -> str:
    """The ``number``-th host of ``127.network``; after 62,500 goes on ten networks further."""
    block, rest = divmod(number, 62_500)
    return f"127.{network + 10 * block}.{rest // 250}.{rest % 250 + 1}"


class Overlay:
    """``config`` is every broker's; a ``walk_ttl`` of 0 becomes 4 x the number of brokers, as a launcher has it."""

    def __init__(
        self,
        graph: Graph,
        config: BrokerConfig | None = None,
        seed: int = 0,
        *,
        monitoring: bool = True,
        local: LinkShape = LOCAL,
        strict: bool = True,
        make_actor: Callable[[Address, Broker], NodeActor] = CheckedActor,
        make_client: Callable[[Simulator, ScheduledClient, str], ClientActor] = ClientActor,
        make_broker: Callable[[BrokerConfig, Address, int], Broker] = fresh_broker,
    ) -> None:
        """``make_actor`` says how each broker is driven: not checked at each step, it is ten times as fast.
        ``make_client`` says it of clients. ``make_broker`` makes the broker itself, of a seed, whenever one starts.
        """
        self.graph = graph
        self.config = (config or BrokerConfig()).among(graph.brokers)
        self.seed = seed
        self._monitoring = monitoring
        self._make_actor = make_actor
        self._make_client = make_client
        self._make_broker = make_broker
        self.simulator = Simulator(Network(derive_seed(seed, "network"), local), strict=strict)
        self.brokers: dict[int, NodeActor] = {}
        self.clients: list[ClientActor] = []
        self.happened: list[Event] = []
        """Which brokers ended and began again, as a supervisor reports it."""
        self._addresses = [broker_address(i) for i in range(graph.brokers)]
        self._index_of = {address: i for i, address in enumerate(self._addresses)}
        searching = self.config.membership != GIVEN
        assembly = Assembly(graph.brokers, graph.links, monitoring=monitoring, searching=searching)
        self.controller = ControllerActor(self.simulator, assembly, self._addresses, CONTROLLER_HOST)
        self._incarnations = [0] * graph.brokers
        self.leaving: dict[int, NodeActor] = {}
        """Brokers that still say farewell."""
        self.stopped: dict[int, Stopped] = {}
        """Brokers that are stopped; they are among ``brokers``, too."""
        self._awaited: set[int] = set()
        """Those of them that are to come back at once."""
        self._ports = Ports(ASKER_HOST)
        self._timestamps = Timestamps(WallClock(WALL_OFFSET_NS))
        for link in graph.links:
            self.simulator.network.lay(self._addresses[link.a], self._addresses[link.b], link.shape())

    # ---- brokers

    def start(self) -> None:
        """Start every broker and wait until all orders were carried out."""
        for index in range(self.graph.brokers):
            self.restart(index)
        self.simulator.run_while(lambda: not self.controller.is_complete(), START_LIMIT)

    def introduce(self) -> None:
        """Start every broker with its neighbours known to it and watched, as if all orders had been carried out.

        Nothing is said for it, so that a large overlay is up at once. Brokers that choose their neighbours cannot be
        started so.
        """
        if self.config.membership != GIVEN:
            raise ValueError(f"under {self.config.membership} membership brokers are not given their neighbours")
        now, addresses = self.simulator.now, self._addresses
        for index, neighbours in enumerate(self.graph.neighbours()):
            broker = self._begin(index)
            introduce(broker, (addresses[other] for other in neighbours), now)
            if self._monitoring:
                broker.receive_datagram(b"0|1", (CONTROLLER_HOST, 1), now)
                broker.datagrams_to_send()  # an acknowledgement, which nobody waits for
            broker.events()
        self.controller.assembly.assume(self.controller.up)

    def restart(self, index: int) -> None:
        """Start a broker that is down, with nothing in it; the controller will notice."""
        if self._incarnations[index]:
            self._tell("process_started", index)
        self._begin(index)
        self.simulator.wake(self.controller)

    def _begin(self, index: int) -> Broker:
        address = self._addresses[index]
        seed = derive_seed(self.seed, "broker", index, self._incarnations[index])
        broker = self._make_broker(self.config, address, seed)
        actor = self.brokers[index] = self._make_actor(address, broker)
        self.simulator.listen(address, actor)
        self._incarnations[index] += 1
        self.controller.up[index] = self._incarnations[index]
        return broker

    def kill(self, index: int) -> None:
        """As ``kill -9`` does: without a word to anybody."""
        actor = self.brokers.pop(index)
        self.simulator.remove(self.stopped.pop(index, actor))
        del self.controller.up[index]
        self._tell("process_ended", index)

    def stop(self, index: int) -> None:
        """As SIGSTOP does: it reads and does nothing, and what arrives waits for it."""
        actor = self.brokers[index]
        self.stopped[index] = Stopped(actor)
        self.simulator.remove(actor)
        self.simulator.listen(actor.address, self.stopped[index])

    def resume(self, index: int) -> None:
        """As SIGCONT does; nothing for one that was killed meanwhile."""
        stopped = self.stopped.pop(index, None)
        if stopped is not None:
            self.simulator.remove(stopped)
            stopped.hand_over(self.simulator.now)
            self.simulator.listen(stopped.actor.address, stopped.actor)

    def step_clock(self, index: int, by: int) -> None:
        """Let a broker's wall clock be ``by`` nanoseconds ahead of the right time from now on."""
        self.broker(index).set_wall_clock(WALL_OFFSET_NS + by)
        if index not in self.stopped:
            self.simulator.wake(self.brokers[index])

    def leave(self, index: int) -> None:
        """As SIGTERM does: a farewell to every neighbour, a few times, then gone; one that is stopped is resumed."""
        self.resume(index)
        actor = self.brokers.pop(index)
        node = actor.node
        assert isinstance(node, Broker)
        node.leave(self.simulator.now)
        self.simulator.wake(actor)
        del self.controller.up[index]
        self.leaving[index] = actor
        self._tell("process_ended", index)
        self.at(self.simulator.now + FAREWELLS * FAREWELL_GAP, lambda: self._finish_leaving(index, actor))

    def _finish_leaving(self, index: int, actor: NodeActor) -> None:
        if self.leaving.get(index) is not actor:
            return
        self.simulator.remove(self.leaving.pop(index))
        if index in self._awaited:
            self._return(index)

    def add_churn(self, workload: Workload) -> tuple[Change, ...]:
        """Let brokers go and come back as the churn of a workload says that starts now; what will happen."""
        now, changes = self.simulator.now, schedule(workload, self.graph.brokers, self.seed)
        for change in changes:
            self.at(now + round(change.at_s * SECOND), partial(self.follow, change))
        return changes

    def follow(self, change: Change) -> None:
        """Let a broker go or come back, now."""
        if change.what == UP:
            self._return(change.broker)
            return
        self._awaited.discard(change.broker)
        if change.broker in self.brokers:
            (self.leave if change.what == LEAVE else self.kill)(change.broker)

    def _return(self, index: int) -> None:
        """Like the supervisor's: one that still says farewell is first let end."""
        if index in self.leaving:
            self._awaited.add(index)
        else:
            self._awaited.discard(index)
            self.restart(index)

    def address(self, index: int) -> Address:
        return self._addresses[index]

    def broker(self, index: int) -> Broker:
        node = self.brokers[index].node
        assert isinstance(node, Broker)
        return node

    def neighbours(self, index: int) -> set[int]:
        """The neighbours that a broker believes in, by index."""
        return {self._index_of[address] for address in self.broker(index).neighbours}

    def wrong_neighbours(self) -> dict[int, tuple[set[int], set[int]]]:
        """The brokers that are up whose neighbours are not those of the topology that are up: (has, should have)."""
        wanted = self.graph.neighbours()
        pairs = {i: (self.neighbours(i), {j for j in wanted[i] if j in self.brokers}) for i in self.brokers}
        return {i: pair for i, pair in pairs.items() if pair[0] != pair[1]}

    def statistics(self, name: str) -> list[int]:
        """One counter of every broker that is up, by index."""
        return [self.broker(i).statistics(self.simulator.now)[name] for i in sorted(self.brokers)]

    # ---- the network's faults

    def separate(self, *islands: Iterable[int]) -> None:
        """Partition: brokers of different islands hear nothing of each other; clients reach all."""
        self.divide([islands])

    def divide(self, partitions: Iterable[Iterable[Iterable[int]]]) -> None:
        """Several partitions at once, in place of those that there are: each forbids what it does alone."""
        self.simulator.network.divide(
            [[self._addresses[i] for i in island] for island in islands] for islands in partitions
        )

    def heal(self) -> None:
        self.simulator.network.heal()

    def lay(self, a: int, b: int, shape: LinkShape) -> None:
        self.simulator.network.lay(broker_address(a), broker_address(b), shape)

    def lay_one_way(self, source: int, to: int, shape: LinkShape) -> None:
        """Shape what ``source`` sends to ``to``, and not the way back."""
        self.simulator.network.lay_one_way(broker_address(source), broker_address(to), shape)

    def at(self, time: int, action: Callable[[], None]) -> None:
        """Do something to this overlay at ``time`` (ns)."""
        self.simulator.at(time, action)

    # ---- clients

    def ask(self, index: int, question: Question, retry: Retry | None = None) -> Exchange:
        """Begin an exchange with a broker, from a fresh port; it goes on while the simulator runs."""
        address = self._ports.fresh()
        exchange = Exchange(question, broker_address(index), self.simulator.now, self._timestamps, retry or Retry())
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

    def run_for(self, duration: int) -> None:
        self.simulator.run_for(duration)

    def add_clients(self, workload: Workload) -> Tally:
        """The fleet of a workload that starts now; every client is a host of its own."""
        now = self.simulator.now
        fleet = Fleet(workload, Windows.of(workload, 0, now), WallClock(WALL_OFFSET_NS), Tally())
        self.add_fleet(plan_clients(workload, self.graph.brokers, self.seed, self.graph.positions), fleet)
        return fleet.tally

    def add_fleet(self, plans: Sequence[ClientPlan], fleet: Fleet) -> list[ClientActor]:
        """Clients that share what ``fleet`` says."""
        added = []
        for client in make_clients(plans, self._addresses, fleet, self.seed):
            actor = self._make_client(self.simulator, client, _host(3, len(self.clients)))
            self.clients.append(actor)
            added.append(actor)
            self.simulator.wake(actor)
        return added

    def samples(self) -> list[Sample]:
        """Of all clients so far, their times from the simulator's zero."""
        return [sample for client in self.clients for sample in client.samples]

    @property
    def zero_unix_us(self) -> int:
        """Unix microseconds at that zero."""
        return WALL_OFFSET_NS // 1000

    def _tell(self, name: str, index: int) -> None:
        self.happened.append(Event("supervisor", self.simulator.now // 1000, name, {"process": f"broker-{index}"}))
