"""A whole network of a system in one object: servers on a topology, their controller, clients, and faults.

::

    world = World(system, settings, generate("ring", 10), seed=7)
    world.start()                                       # all that the system's assembly orders, as a launcher gives it
    world.add_fleet("consumers-0", fleet)
    world.kill(3)
    world.run_for(5 * SECOND)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from overlay.core.addresses import Address
from overlay.core.chance import derive_seed
from overlay.core.links import LinkShape
from overlay.core.node import SECOND
from overlay.faults.churn import LEAVE, UP, Change
from overlay.journal.facts import Event, Sample
from overlay.sim.actors import CheckedActor, ClientActor, ControllerActor, NodeActor, Stopped
from overlay.sim.network import LOCAL, Network
from overlay.sim.recorders import MakeServer, fresh_server
from overlay.sim.simulator import WALL_OFFSET_NS, Simulator
from overlay.systems.contract import Client, Fleet, Place, Server, System, server_names
from overlay.topologies import Graph

START_LIMIT = 120 * SECOND
CONTROLLER_HOST = "127.2.0.1"

MakeClient = Callable[[Simulator, Client, str, str], ClientActor]
"""Given the client, its host, and the process that it shares."""


def server_address(index: int) -> Address:
    """Each server is a host of its own, within loopback, which open brokers trust by default."""
    return _host(1, index), 7000


def plain_client(simulator: Simulator, client: Client, host: str, process: str) -> ClientActor:
    """A client that takes no time."""
    return ClientActor(simulator, client, host)


def _host(network: int, number: int) -> str:
    """The ``number``-th host of ``127.network``; after 62,500 goes on ten networks further."""
    block, rest = divmod(number, 62_500)
    return f"127.{network + 10 * block}.{rest // 250}.{rest % 250 + 1}"


class World:
    """``settings`` are as ``system.read_settings`` has them."""

    def __init__(
        self,
        system: System,
        settings: Any,
        graph: Graph,
        seed: int = 0,
        *,
        local: LinkShape = LOCAL,
        strict: bool = True,
        make_actor: Callable[[Address, Server], NodeActor] = CheckedActor,
        make_client: MakeClient = plain_client,
        make_server: MakeServer = fresh_server,
    ) -> None:
        """``make_actor`` says how each server is driven: not checked at each step, it is ten times as fast.
        ``make_client`` says it of clients. ``make_server`` makes the server itself, of a seed, whenever one starts.
        """
        self.system = system
        self.settings = settings
        self.graph = graph
        self.config = system.config_of(settings, graph)
        self.seed = seed
        self.names = server_names(system.roles(graph))
        """Of the servers' processes, by index."""
        self._make_actor = make_actor
        self._make_client = make_client
        self._make_server = make_server
        self.simulator = Simulator(Network(derive_seed(seed, "network"), local), strict=strict)
        self.brokers: dict[int, NodeActor] = {}
        self.clients: list[ClientActor] = []
        self.happened: list[Event] = []
        """Which brokers ended and began again, as a supervisor reports it."""
        self._addresses = [server_address(i) for i in range(len(self.names))]
        self._index_of = {address: i for i, address in enumerate(self._addresses)}
        assembly = system.make_assembly(settings, graph)
        self.controller = ControllerActor(self.simulator, assembly, self._addresses, CONTROLLER_HOST)
        self._incarnations = [0] * len(self.names)
        self.leaving: dict[int, NodeActor] = {}
        """Brokers that still say farewell."""
        self.stopped: dict[int, Stopped] = {}
        """Brokers that are stopped; they are among ``brokers``, too."""
        self._awaited: set[int] = set()
        """Those of them that are to come back at once."""
        for link in graph.links:
            self.simulator.network.lay(self._addresses[link.a], self._addresses[link.b], link.shape())

    # ---- brokers

    def start(self) -> None:
        """Start every server and wait until all orders were carried out."""
        for index in range(len(self.names)):
            self.restart(index)
        self.simulator.run_while(lambda: not self.controller.is_complete(), START_LIMIT)

    def introduce(self) -> None:
        """Start every server with its neighbours known to it, as if all orders had been carried out.

        Nothing is said for it, so that a large network is up at once. Where servers cannot be started so, an error.
        """
        if not self.system.can_introduce(self.settings):
            raise ValueError("under these settings servers cannot be given their neighbours")
        now, addresses = self.simulator.now, self._addresses
        for index in range(len(self.names)):
            self._begin(index)
        for index, neighbours in enumerate(self.graph.neighbours()):
            known = [addresses[other] for other in neighbours]
            server = self.brokers[index].node
            self.system.introduce(self.settings, server, known, (CONTROLLER_HOST, 1), now)
        self.controller.assembly.assume(self.controller.up)

    def restart(self, index: int) -> None:
        """Start a broker that is down, with nothing in it; the controller will notice."""
        if self._incarnations[index]:
            self._tell("process_started", index)
        self._begin(index)
        self.simulator.wake(self.controller)

    def _begin(self, index: int) -> None:
        address = self._addresses[index]
        seed = derive_seed(self.seed, "broker", index, self._incarnations[index])
        place = Place(index, address, self._addresses)
        server = self._make_server(self.system, self.config, place, self.names[index], seed)
        actor = self.brokers[index] = self._make_actor(address, server)
        self.simulator.listen(address, actor)
        self._incarnations[index] += 1
        self.controller.up[index] = self._incarnations[index]

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
        self.server(index).set_wall_clock(WALL_OFFSET_NS + by)
        if index not in self.stopped:
            self.simulator.wake(self.brokers[index])

    def leave(self, index: int) -> None:
        """As SIGTERM does: a farewell to every neighbour, a few times, then gone; one that is stopped is resumed."""
        self.resume(index)
        actor = self.brokers.pop(index)
        farewell_ns = self.system.leave(actor.node, self.simulator.now)
        self.simulator.wake(actor)
        del self.controller.up[index]
        self.leaving[index] = actor
        self._tell("process_ended", index)
        self.at(self.simulator.now + farewell_ns, lambda: self._finish_leaving(index, actor))

    def _finish_leaving(self, index: int, actor: NodeActor) -> None:
        if self.leaving.get(index) is not actor:
            return
        self.simulator.remove(self.leaving.pop(index))
        if index in self._awaited:
            self._return(index)

    def add_churn(self, workload: Any) -> tuple[Change, ...]:
        """Let servers go and come back as the churn of a workload says that starts now; what will happen."""
        now, changes = self.simulator.now, self.system.churn(workload, self.graph, self.seed)
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

    def server(self, index: int) -> Any:
        """The server itself, as its system made it."""
        return self.brokers[index].node

    def statistics(self, name: str) -> list[int]:
        """One counter of every broker that is up, by index."""
        return [self.server(i).statistics(self.simulator.now)[name] for i in sorted(self.brokers)]

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
        self.simulator.network.lay(server_address(a), server_address(b), shape)

    def lay_one_way(self, source: int, to: int, shape: LinkShape) -> None:
        """Shape what ``source`` sends to ``to``, and not the way back."""
        self.simulator.network.lay_one_way(server_address(source), server_address(to), shape)

    def at(self, time: int, action: Callable[[], None]) -> None:
        """Do something to this overlay at ``time`` (ns)."""
        self.simulator.at(time, action)

    # ---- clients

    def add_fleet(self, process: str, fleet: Fleet) -> list[ClientActor]:
        """The clients that share a process; every one of them is a host of its own."""
        added = []
        for client in fleet.clients:
            actor = self._make_client(self.simulator, client, _host(3, len(self.clients)), process)
            self.clients.append(actor)
            added.append(actor)
            self.simulator.wake(actor)
        return added

    def run_for(self, duration: int) -> None:
        self.simulator.run_for(duration)

    def samples(self) -> list[Sample]:
        """Of all clients so far, their times from the simulator's zero."""
        return [fact for client in self.clients for fact in client.facts if isinstance(fact, Sample)]

    @property
    def zero_unix_us(self) -> int:
        """Unix microseconds at that zero."""
        return WALL_OFFSET_NS // 1000

    def _tell(self, name: str, index: int) -> None:
        self.happened.append(Event("supervisor", self.simulator.now // 1000, name, {"process": self.names[index]}))
