"""A complete simulated network of a system: servers on a topology, their controller, clients and faults.

::

    world = World(system, Setup(settings, workload, generate("ring", 10), seed=7))
    world.start()                                       # with all orders of the system's assembly
    world.add_fleet("callers-0", fleet)
    world.kill(3)
    world.run_for(5 * SECOND)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any

from overlay.core.addresses import Address
from overlay.core.chance import derive_seed
from overlay.core.links import LinkShape
from overlay.core.node import SECOND
from overlay.faults.churn import LEAVE, UP, Change
from overlay.faults.faults import Fault
from overlay.journal.facts import Event, Sample
from overlay.sim.actors import CheckedActor, ClientActor, ControllerActor, NodeActor, Stopped
from overlay.sim.log import LogOfRun
from overlay.sim.network import LOCAL, Network, ShapedNetwork
from overlay.sim.recorders import MakeServer, fresh_server
from overlay.sim.simulator import WALL_OFFSET_NS, Simulator
from overlay.systems.contract import Setup, System
from overlay.systems.cores import Client, Fleet, Server
from overlay.systems.roles import Identity, Place, client_name, server_names

START_LIMIT = 120 * SECOND
CONTROLLER_HOST = "127.2.0.1"

MakeClient = Callable[[Simulator, Client, str, str], ClientActor]
"""Called with the client, its host and its process."""


def server_address(index: int) -> Address:
    """Each server has its own host, within loopback, which open brokers trust by default."""
    return _host(1, index), 7000


def plain_client(simulator: Simulator, client: Client, host: str, process: str) -> ClientActor:
    """A client without service times."""
    return ClientActor(simulator, client, host)


def _host(network: int, number: int) -> str:
    """The ``number``-th host of ``127.network``; after 62,500 hosts it continues ten networks further."""
    block, rest = divmod(number, 62_500)
    return f"127.{network + 10 * block}.{rest // 250}.{rest % 250 + 1}"


class World:
    def __init__(
        self,
        system: System,
        setup: Setup,
        *,
        local: LinkShape = LOCAL,
        strict: bool = True,
        make_actor: Callable[[Address, Server], NodeActor] = CheckedActor,
        make_client: MakeClient = plain_client,
        make_server: MakeServer = fresh_server,
    ) -> None:
        """``make_actor`` creates the actor of each server; without checks after each step it is ten times as fast.
        ``make_client`` creates those of clients. ``make_server`` creates the server itself from a seed, at each start.
        """
        self.system = system
        self.setup = setup
        self.graph = setup.graph
        self.config = system.config_of(setup)
        self.seed = setup.seed
        self.names = server_names(system.roles(setup))
        """The names of the servers' processes, by index."""
        self._make_actor = make_actor
        self._make_client = make_client
        self._make_server = make_server
        self.local = local
        """The shape between servers that are not linked."""
        self.simulator = Simulator(self._make_network(), strict=strict)
        spec = system.log_of(setup)
        self.log = None if spec is None else LogOfRun(spec, self.simulator)
        self.brokers: dict[int, NodeActor] = {}
        self.clients: list[ClientActor] = []
        self.happened: list[Event] = []
        """Ends and starts of brokers, as reported by a supervisor."""
        self._addresses = [server_address(i) for i in range(len(self.names))]
        self._index_of = {address: i for i, address in enumerate(self._addresses)}
        assembly = system.make_assembly(setup)
        self.controller = ControllerActor(self.simulator, assembly, self._addresses, CONTROLLER_HOST)
        self._incarnations = [0] * len(self.names)
        self._moved: dict[int, Address] = {}
        """The addresses of servers that a fault has moved."""
        self.leaving: dict[int, NodeActor] = {}
        """Brokers that are leaving."""
        self.stopped: dict[int, Stopped] = {}
        """Brokers that are stopped; they are also in ``brokers``."""
        self._awaited: set[int] = set()
        """Leaving brokers that restart at once."""
        self._faults: list[Fault] = []
        """The active faults of the system that can end."""
        for link in setup.graph.links:
            self.simulator.network.lay(self._addresses[link.a], self._addresses[link.b], link.shape())

    def _make_network(self) -> Network:
        seed = derive_seed(self.seed, "network")
        if type(self.system).client_shape is System.client_shape:
            return Network(seed, self.local)
        self._server_at = {server_address(index)[0]: index for index in range(len(self.names))}
        self._client_at: dict[str, Identity] = {}
        return ShapedNetwork(seed, self.local, self._shape_between)

    def _shape_between(self, source: str, to: str) -> LinkShape | None:
        """The shape of a client's datagrams, or of datagrams to it."""
        client, other = self._client_at.get(source), self._client_at.get(to)
        if client is None:
            server = self._server_at.get(source)
            return None if other is None or server is None else self.system.client_shape(self.setup, other, server)
        peer = self._server_at.get(to) if other is None else other
        return None if peer is None else self.system.client_shape(self.setup, client, peer)

    # ---- brokers

    def start(self) -> None:
        """Start every server and wait until all orders are done."""
        for index in range(len(self.names)):
            self.restart(index)
        self.simulator.run_while(lambda: not self.controller.is_complete(), START_LIMIT)

    def introduce(self) -> None:
        """Start every server with its neighbours, in the state after all orders.

        No messages are sent, so a large network is up at once. Raises an error if the settings do not allow it.
        """
        introduction = self.system.introduction(self.setup)
        if introduction is None:
            raise ValueError("servers with these settings cannot be introduced to their neighbours")
        now, addresses = self.simulator.now, self._addresses
        for index in range(len(self.names)):
            self._begin(index)
        for index, neighbours in enumerate(self.graph.neighbours()):
            known = [addresses[other] for other in neighbours]
            server = self.brokers[index].node
            introduction.introduce(server, known, (CONTROLLER_HOST, 1), now)
        self.controller.assembly.assume(self.controller.up)

    def restart(self, index: int) -> None:
        """Start a broker that is down, with an empty table; the controller will notice."""
        if self._incarnations[index]:
            self._tell("process_started", index)
        self._begin(index)
        self.simulator.wake(self.controller)

    def _begin(self, index: int) -> None:
        address = self._addresses[index]
        if moved := self._moved.pop(index, None):
            self.simulator.network.rename(moved, address)
        seed = derive_seed(self.seed, "broker", index, self._incarnations[index])
        place = Place(self.names[index], index, address, self._addresses)
        server = self._make_server(self.system, self.config, place, seed)
        actor = self.brokers[index] = self._make_actor(address, server)
        if self.log is not None:
            self.log.join(place.name, actor)
        self.simulator.listen(address, actor)
        for fault in self._faults:
            if index in fault.servers:
                actor.fault(fault.to_json(), True, self.simulator.now)
        self._incarnations[index] += 1
        self.controller.up[index] = self._incarnations[index]

    def kill(self, index: int) -> None:
        """Like ``kill -9``: without any message."""
        actor = self.brokers.pop(index)
        self.simulator.remove(self.stopped.pop(index, actor))
        if self.log is not None:
            self.log.kill(self.names[index])
        del self.controller.up[index]
        self._tell("process_ended", index)

    def stop(self, index: int) -> None:
        """Like SIGSTOP: it reads and does nothing, and datagrams wait for it."""
        actor = self.brokers[index]
        self.stopped[index] = Stopped(actor)
        self.simulator.remove(actor)
        self.simulator.listen(actor.address, self.stopped[index])
        if self.log is not None:
            self.log.stop(self.names[index])

    def resume(self, index: int) -> None:
        """Like SIGCONT; no effect if it was killed meanwhile."""
        stopped = self.stopped.pop(index, None)
        if stopped is not None:
            self.simulator.remove(stopped)
            stopped.hand_over(self.simulator.now)
            self.simulator.listen(stopped.actor.address, stopped.actor)
            if self.log is not None:
                self.log.resume(self.names[index])

    def step_clock(self, index: int, by: int) -> None:
        """Set a broker's wall clock ``by`` nanoseconds ahead of the correct time."""
        self.server(index).set_wall_clock(WALL_OFFSET_NS + by)
        if index not in self.stopped:
            self.simulator.wake(self.brokers[index])

    def leave(self, index: int) -> None:
        """Like SIGTERM: the broker sends its leave to every neighbour a few times, then ends. Resumes a stopped
        broker."""
        self.resume(index)
        leaving_ns = self.server(index).leave(self.simulator.now)
        actor = self.brokers.pop(index)
        self.simulator.wake(actor)
        del self.controller.up[index]
        self.leaving[index] = actor
        self._tell("process_ended", index)
        self.at(self.simulator.now + leaving_ns, lambda: self._finish_leaving(index, actor))

    def _finish_leaving(self, index: int, actor: NodeActor) -> None:
        if self.leaving.get(index) is not actor:
            return
        self.simulator.remove(self.leaving.pop(index))
        if self.log is not None:
            self.log.end(self.names[index])
        if index in self._awaited:
            self._return(index)

    def add_churn(self, workload: Any) -> tuple[Change, ...]:
        """Schedule the churn of a workload that starts now. Returns the changes."""
        now, changes = self.simulator.now, self.system.churn(replace(self.setup, workload=workload))
        for change in changes:
            self.at(now + round(change.at_s * SECOND), partial(self.follow, change))
        return changes

    def follow(self, change: Change) -> None:
        """Let a broker leave or return now."""
        if change.what == UP:
            self._return(change.broker)
            return
        self._awaited.discard(change.broker)
        if change.broker in self.brokers:
            (self.leave if change.what == LEAVE else self.kill)(change.broker)

    def _return(self, index: int) -> None:
        """Like the supervisor: a leaving broker ends first."""
        if index in self.leaving:
            self._awaited.add(index)
        else:
            self._awaited.discard(index)
            self.restart(index)

    def address(self, index: int) -> Address:
        """Where the server is now."""
        return self._moved.get(index, self._addresses[index])

    def server(self, index: int) -> Any:
        """The server as created by its system."""
        return self.brokers[index].node

    def statistics(self, name: str) -> list[int]:
        """One counter of every running broker, by index."""
        return [self.server(i).statistics(self.simulator.now)[name] for i in sorted(self.brokers)]

    # ---- network faults

    def separate(self, *islands: Iterable[int]) -> None:
        """Partition: no datagrams between brokers on different islands. Clients reach all brokers."""
        self.divide([islands])

    def divide(self, partitions: Iterable[Iterable[Iterable[int]]]) -> None:
        """Replace the partitions by several ones; each applies."""
        self.simulator.network.divide(
            [[self.address(i) for i in island] for island in islands] for islands in partitions
        )

    def strike(self, fault: Fault, *, begins: bool) -> None:
        """Let a fault of the system begin or end."""
        if fault.is_of_log:
            assert self.log is not None, "only a system with a log declares its faults"
            self.log.strike(fault, begins=begins, names=self.names)
            return
        if begins and fault.lasts:
            self._faults.append(fault)
        elif not begins:
            self._faults.remove(fault)
        for index in fault.servers:
            if index in self.brokers:
                self._strike(self.brokers[index], fault, begins, self._move(index) if fault.moves else None)
        named = set(fault.clients)
        for actor in self.clients if named else ():
            if client_name(actor.client.identity) in named:
                self._strike(actor, fault, begins)

    def _strike(self, actor: NodeActor | ClientActor, fault: Fault, begins: bool, moved: Address | None = None) -> None:
        actor.fault(fault.seen_by(moved), begins, self.simulator.now)
        self.simulator.wake(actor)

    def _move(self, index: int) -> Address:
        """Give a running server its next port."""
        simulator, actor, old = self.simulator, self.brokers[index], self.address(index)
        listening = self.stopped.get(index, actor)
        new = self._moved[index] = actor.address = old[0], old[1] + 1
        simulator.remove(listening)
        simulator.network.rename(old, new)
        simulator.listen(new, listening)
        return new

    def heal(self) -> None:
        self.simulator.network.heal()

    def lay(self, a: int, b: int, shape: LinkShape) -> None:
        self.simulator.network.lay(self.address(a), self.address(b), shape)

    def lay_one_way(self, source: int, to: int, shape: LinkShape) -> None:
        """Set the shape from ``source`` to ``to`` only."""
        self.simulator.network.lay_one_way(self.address(source), self.address(to), shape)

    def at(self, time: int, action: Callable[[], None]) -> None:
        """Run an action at ``time`` (ns)."""
        self.simulator.at(time, action)

    # ---- clients

    def add_fleet(self, process: str, fleet: Fleet) -> list[ClientActor]:
        """Add the clients of one process; each has its own host."""
        added = []
        for client in fleet.clients:
            actor = self._make_client(self.simulator, client, _host(3, len(self.clients)), process)
            self.clients.append(actor)
            if isinstance(self.simulator.network, ShapedNetwork):
                self._client_at[actor.host] = client.identity
            if self.log is not None:
                self.log.join(client_name(client.identity), actor)
            added.append(actor)
            self.simulator.wake(actor)
        return added

    def run_for(self, duration: int) -> None:
        self.simulator.run_for(duration)

    def samples(self) -> list[Sample]:
        """The samples of all clients so far, with times from the simulator's zero."""
        return [fact for client in self.clients for fact in client.facts if isinstance(fact, Sample)]

    @property
    def zero_unix_us(self) -> int:
        """Unix microseconds at that zero."""
        return WALL_OFFSET_NS // 1000

    def _tell(self, name: str, index: int) -> None:
        self.happened.append(Event("supervisor", self.simulator.now // 1000, name, {"process": self.names[index]}))
