"""Actors with service times: they wait for their processor, sleep, wake up late, and answer when their service ends.

Counterparts: ``overlay.core.service_times`` has the times; ``actors`` are the same without time. An
actor's inputs are collected while it wakes up or is busy, and processed as one batch, as in ``overlay.runtime.udp``.
They share a ``now``, the start of the service, and a broker's output leaves at its end. Beyond a backlog,
senders are served round robin, as there (``overlay.core.admission``)::

    arrives ── delivery ──> begins: receive, step ── service ──> ends: its datagrams leave
       arrives while it wakes ──^      arrives while it is busy ──^ begins again at once

All clients of one fleet are one process and share its core (``processors``); each broker has its own. A client sends at
the end of its service, as a broker does, if its costs say so (``Costs.sends_last``): reading a document and writing the
answer delays the answer. Other clients send at the start of their service, and do their bookkeeping afterwards.
Contention for the cores of a machine is not modelled.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from overlay.core.addresses import Address
from overlay.core.admission import BACKLOG, Admission
from overlay.core.chance import Chance, Stream, derive_seed
from overlay.core.curves import Delays
from overlay.core.node import SECOND
from overlay.core.processes import role_of
from overlay.core.service_times import Costs, Deliveries, ServiceModel
from overlay.sim.actors import ClientActor, NodeActor
from overlay.sim.processors import Core, Machine, SharedCore
from overlay.sim.simulator import Actor, Outgoing, Simulator
from overlay.systems.contract import System
from overlay.systems.cores import Client, Meter, Server, Usage

BATCH = 32
"""Maximum datagrams in one batch, as in ``overlay.runtime.datagrams``."""

Incoming = tuple[bytes, Address, Address]
"""A datagram, its source and its destination."""


class Timing(NamedTuple):
    """What the service times of an actor depend on."""

    costs: Costs
    """Those of its role."""
    meter: Meter
    deliveries: Deliveries
    servers: Mapping[Address, str]
    """The roles of all servers; all other senders are clients."""


class Served(Actor):
    """A mix-in before an actor. Subclasses define the duration of deliveries and services; this class applies it."""

    heeds_wakes = True
    """Whether the actor can be changed between inputs, and woken to send the resulting output."""
    sends_last = True
    """Whether output leaves at the end of the service, and not at its start."""

    def __init__(
        self, timing: Timing, machine: Machine, core: Core, chance: Chance, own_timer: Callable[[], int | None]
    ) -> None:
        self._costs, self._meter, self._deliveries, self._servers = timing
        self._machine = machine
        self._core = core
        self._chance = chance
        self._own_timer = own_timer
        """The actor's own timer."""
        self._waiting: list[Incoming] = []
        self._begins: int | None = None
        """When waiting input will be served; ``None`` without input."""

    @abstractmethod
    def _serve(self, batch: Sequence[Incoming], now: int) -> Sequence[Outgoing]:
        """Pass input to the actor and collect its output."""

    @abstractmethod
    def _delivery(self, source: Address) -> Delays: ...

    def _cost_ns(self, batch: Sequence[Incoming], outgoing: Sequence[Outgoing], idle_ns: int) -> int:
        work = self._meter.work([data for data, _, _ in batch], [data for data, _, _ in outgoing])
        cost_ns = self._costs.cost_ns(work, idle_ns)
        self._meter.charged(cost_ns)
        return cost_ns

    def receive(self, data: bytes, source: Address, to: Address, now: int) -> int:
        self._waiting.append((data, source, to))
        if self._begins is None:
            self._begins = self._read_at(self._delivery(source), now)
        return self._begins

    def notice(self, now: int) -> int:
        """Input of the log is served like datagrams, and comes like those of another server."""
        if self._begins is None:
            self._begins = self._read_at(self._deliveries.between, now)
        return max(self._begins, self._core.free_at)  # one that waits for its core steps when that is free

    def step(self, now: int) -> Sequence[Outgoing]:
        core = self._core
        if core.holds(self):
            return ()
        if self._begins is None:
            timer = self._own_timer()
            if timer is not None and timer <= now:
                self._begins = self._read_at(self._deliveries.timer, now)
            elif not self.heeds_wakes:
                return ()
        elif self._begins <= now < core.free_at:  # another actor on the same core was served first
            self._begins = core.free_at
        if self._begins is not None and self._begins > now:
            if self._begins == core.free_at and core.queues(self):
                self._begins = now
            return ()
        batch = self._next_batch()
        outgoing = self._serve(batch, now)
        if self._begins is not None or outgoing:
            self._take_time(self._cost_ns(batch, outgoing, max(0, now - core.free_at)), now)
        self._begins = core.free_at if self._is_behind() else None
        return outgoing

    def next_timer(self) -> int | None:
        if self._core.holds(self):
            return None
        if self._begins is not None:
            return self._begins
        timer = self._own_timer()
        return None if timer is None else max(timer, self._core.free_at)

    def busy_us(self) -> int:
        return self._core.busy // 1000

    def _next_batch(self) -> Sequence[Incoming]:
        """The next batch, in order of arrival."""
        batch, self._waiting = self._waiting[:BATCH], self._waiting[BATCH:]
        return batch

    def _is_behind(self) -> bool:
        """Whether input is waiting."""
        return bool(self._waiting)

    def _read_at(self, delays: Delays, now: int) -> int:
        """When it will have read a datagram that arrives now: directly after its current service, or after waking
        up."""
        core = self._core
        if core.free_at > now:
            return core.free_at
        slept = min(now - core.free_at, self._machine.slept(now))
        return now + delays.ns(slept, self._chance.random())

    def _take_time(self, cost_ns: int, now: int) -> None:
        core = self._core
        begin = core.free_at if core.free_at > now else now
        core.free_at = end = begin + cost_ns
        core.busy += cost_ns
        self._machine.ran(begin, end)
        if self.sends_last:
            self.leaves_at = end


class ServedServer(Served, NodeActor):
    """A server with service times."""

    def __init__(self, address: Address, server: Server, timing: Timing, machine: Machine, chance: Chance) -> None:
        Served.__init__(self, timing, machine, Core(), chance, server.next_timer)
        NodeActor.__init__(self, address, server)
        self._server = server
        self._admission: Admission | None = None
        """Created with the first backlog, which few servers have."""
        self._tells_usage_at: int | None = 0 if hasattr(server, "set_usage") else None

    @property
    def backlog_dropped(self) -> int:
        return 0 if self._admission is None else self._admission.dropped

    def _next_batch(self) -> Sequence[Incoming]:
        """Beyond a backlog, senders are served round robin."""
        if len(self._waiting) <= BACKLOG and not self._admission:
            return super()._next_batch()
        if self._admission is None:
            self._admission = Admission(self._server.knows)
        self._admission.admit([(data, source) for data, source, _ in self._waiting])
        self._waiting = []
        return [(data, source, self.address) for data, source in self._admission.take(BATCH)]

    def _is_behind(self) -> bool:
        return super()._is_behind() or bool(self._admission)

    def _serve(self, batch: Sequence[Incoming], now: int) -> Sequence[Outgoing]:
        if self._tells_usage_at is not None and now >= self._tells_usage_at:
            server: Any = self._server
            server.set_usage(Usage(self.busy_us(), 0, 0, 0), now)
            self._tells_usage_at = now + SECOND
        if batch:
            self._server.receive_datagrams([(data, source) for data, source, _ in batch], now)
        return NodeActor.step(self, now)

    def _delivery(self, source: Address) -> Delays:
        return self._deliveries.between if source in self._servers else self._deliveries.to_server


class ServedClient(Served, ClientActor):
    """A client of a fleet, on the core of this fleet."""

    heeds_wakes = False

    def __init__(
        self,
        simulator: Simulator,
        client: Client,
        host: str,
        timing: Timing,
        machine: Machine,
        core: Core,
        chance: Chance,
    ) -> None:
        Served.__init__(self, timing, machine, core, chance, client.next_timer)
        self.sends_last = timing.costs.sends_last
        ClientActor.__init__(self, simulator, client, host)

    def _serve(self, batch: Sequence[Incoming], now: int) -> Sequence[Outgoing]:
        for data, source, to in batch:
            if self.has(to):  # otherwise its port was closed meanwhile
                ClientActor.receive(self, data, source, to, now)
        return ClientActor.step(self, now)

    def fault(self, document: Mapping[str, Any], begins: bool, now: int) -> None:
        """It is served like a timer, since it ignores other wakes."""
        super().fault(document, begins, now)
        if self._begins is None:
            self._begins = self._read_at(self._deliveries.timer, now)

    def _delivery(self, source: Address) -> Delays:
        return self._deliveries.to_client


class Services:
    """Creates the actors of one simulation with the times of ``model``, drawn from streams of ``seed``."""

    def __init__(self, system: System, model: ServiceModel, seed: int, servers: Mapping[Address, str]) -> None:
        """``servers`` are the roles of all servers, by address."""
        self._system = system
        self._model = model
        self._seed = seed
        self._servers = servers
        self._deliveries = model.deliveries_from([role.processes for role in system.client_roles.values()])
        self._machine = Machine()
        self._fleets: dict[str, Core] = {}

    def server(self, address: Address, server: Server, incarnation: int = 0) -> ServedServer:
        chance = Stream(derive_seed(self._seed, "service", *address, incarnation))
        role = self._servers[address]
        return ServedServer(
            address, server, self._timing(server, role, self._model.server(role)), self._machine, chance
        )

    def client(self, simulator: Simulator, client: Client, host: str, process: str) -> ServedClient:
        core = self._fleets.setdefault(process, SharedCore(simulator))
        chance = Stream(derive_seed(self._seed, "service", *client.identity))
        role = role_of(process)
        timing = self._timing(client, role, self._model.client(role))
        return ServedClient(simulator, client, host, timing, self._machine, core, chance)

    def _timing(self, actor: Any, role: str, costs: Costs) -> Timing:
        return Timing(costs, self._system.make_meter(actor, role), self._deliveries, self._servers)
