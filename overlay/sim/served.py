"""Actors that take time: each waits for its processor, sleeps, is woken late, and answers when its service is over.

Counterparts: ``overlay.services`` says how long everything takes; ``actors`` are the same without time. An actor's
inputs are collected while it wakes or is busy, and served as one batch, as ``overlay.runtime.udp`` does: they share a
``now``, which is when service begins, and what they lead to leaves when it ends::

    arrives ── delivery ──> begins: receive, step ── service ──> ends: its datagrams leave
       arrives while it wakes ──^      arrives while it is busy ──^ begins again at once

All clients of one fleet are one process and share its ``Core``; a broker has one to itself. A client sends at the
beginning of its service and goes on with its books, so that it never makes its own request late. That the processes
would have to share the cores of a machine is not modelled.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence

from overlay.addresses import Address
from overlay.broker.broker import Broker
from overlay.chance import Chance, Stream, derive_seed
from overlay.clients.scheduled import ScheduledClient
from overlay.services import MICROSECOND, Delays, ServiceModel, Work
from overlay.sim.actors import ClientActor, NodeActor
from overlay.sim.simulator import Outgoing, Simulator
from overlay.workload import fleet_of

BATCH = 32
"""Datagrams that a broker receives at once, as ``overlay.runtime.datagrams`` does."""

Incoming = tuple[bytes, Address, Address]
"""A datagram, the address it came from and the one it came to."""


class Core:
    """One processor: whose service is over when. It serves one at a time, in the order in which they come."""

    __slots__ = ("busy", "free_at")

    def __init__(self) -> None:
        self.free_at = 0
        self.busy = 0
        """Nanoseconds of service so far."""

    def idle(self, now: int) -> int:
        """For how long (ns) nothing was served."""
        return max(0, now - self.free_at)


class Served(ABC):
    """Mixed in before an actor. It says how long deliveries and services take; this lets them take it."""

    sends_first = False
    """Whether its datagrams leave when a service begins, not when it ends."""

    def __init__(self, core: Core, chance: Chance, timer: Delays) -> None:
        self._core = core
        self._chance = chance
        self._timer = timer
        self._waiting: list[Incoming] = []
        self._begins: int | None = None
        """When what waits is served, if something does."""
        self._ends: int | None = None
        """When the service that goes on is over."""
        self._outgoing: Sequence[Outgoing] = ()

    @abstractmethod
    def _serve(self, batch: Sequence[Incoming], now: int) -> Sequence[Outgoing]:
        """Feed and drain the actor."""

    @abstractmethod
    def _cost_ns(self, batch: Sequence[Incoming], outgoing: Sequence[Outgoing], idle_ns: int) -> int: ...

    @abstractmethod
    def _delivery(self, source: Address) -> Delays: ...

    @abstractmethod
    def _next_timer(self) -> int | None:
        """The actor's own."""

    def receive(self, data: bytes, source: Address, to: Address, now: int) -> None:
        self._waiting.append((data, source, to))
        if self._ends is None and self._begins is None:
            self._wake(self._delivery(source), now)

    def step(self, now: int) -> Iterator[Outgoing]:
        left: Sequence[Outgoing] = ()
        if self._ends is not None:
            if now < self._ends:
                return iter(())
            left, self._outgoing, self._ends = self._outgoing, (), None
            if self._waiting:
                self._begins = now
        if self._begins is None:
            timer = self._next_timer()
            if timer is None or timer > now:
                return iter((*left, *self._begin((), now)))  # it may be woken because somebody changed it
            self._wake(self._timer, now)
        if self._begins is not None and self._begins <= now:
            if self._core.free_at > now:  # another one's service, on the same core
                self._begins = self._core.free_at
            else:
                batch, self._waiting = self._waiting[:BATCH], self._waiting[BATCH:]
                left = (*left, *self._begin(batch, now))
        return iter(left)

    def next_timer(self) -> int | None:
        if self._ends is not None:
            return self._ends
        return self._begins if self._begins is not None else self._next_timer()

    def busy_us(self) -> int:
        return self._core.busy // 1000

    def _wake(self, delays: Delays, now: int) -> None:
        self._begins = max(self._core.free_at, now + delays.ns(self._core.idle(now), self._chance.random()))

    def _begin(self, batch: Sequence[Incoming], now: int) -> Sequence[Outgoing]:
        """Serve; what leaves at once."""
        outgoing = self._serve(batch, now)
        is_idle = self._begins is None and not outgoing
        self._begins = None
        if is_idle:
            return ()
        core = self._core
        cost = max(1, self._cost_ns(batch, outgoing, core.idle(now)))
        self._ends = core.free_at = now + cost
        core.busy += cost
        if self.sends_first:
            return outgoing
        self._outgoing = outgoing
        return ()


class ServedBroker(Served, NodeActor):
    """A broker that takes its time. ``brokers`` are the addresses of all brokers; who else sends is a client."""

    def __init__(
        self, address: Address, broker: Broker, model: ServiceModel, chance: Chance, brokers: Collection[Address]
    ) -> None:
        Served.__init__(self, Core(), chance, model.timer)
        NodeActor.__init__(self, address, broker)
        self._model = model
        self._brokers = brokers
        self._broker = broker
        self._compared = (0, 0)

    def _serve(self, batch: Sequence[Incoming], now: int) -> Sequence[Outgoing]:
        for data, source, to in batch:
            NodeActor.receive(self, data, source, to, now)
        return list(NodeActor.step(self, now))

    def _cost_ns(self, batch: Sequence[Incoming], outgoing: Sequence[Outgoing], idle_ns: int) -> int:
        (scanned, matched), before = self._broker.compared, self._compared
        self._compared = scanned, matched
        work = Work(
            [_code(data) for data, _, _ in batch],
            [_code(data) for data, _, _ in outgoing],
            sum(len(data) for data, _, _ in batch) + sum(len(data) for data, _, _ in outgoing),
            scanned - before[0],
            matched - before[1],
        )
        return self._model.cost_ns(work, idle_ns)

    def _delivery(self, source: Address) -> Delays:
        return self._model.between if source in self._brokers else self._model.to_broker

    def _next_timer(self) -> int | None:
        return NodeActor.next_timer(self)


class ServedClient(Served, ClientActor):
    """A client of a fleet, on the core that this fleet has."""

    sends_first = True

    def __init__(
        self,
        simulator: Simulator,
        client: ScheduledClient,
        host: str,
        model: ServiceModel,
        core: Core,
        chance: Chance,
    ) -> None:
        Served.__init__(self, core, chance, model.timer)
        ClientActor.__init__(self, simulator, client, host)
        self._model = model

    def _serve(self, batch: Sequence[Incoming], now: int) -> Sequence[Outgoing]:
        for data, source, to in batch:
            if self.has(to):  # else its port was closed while it waited
                ClientActor.receive(self, data, source, to, now)
        return list(ClientActor.step(self, now))

    def _cost_ns(self, batch: Sequence[Incoming], outgoing: Sequence[Outgoing], idle_ns: int) -> int:
        model = self._model
        return round((model.client_sends_us * len(outgoing) + model.client_receives_us * len(batch)) * MICROSECOND)

    def _delivery(self, source: Address) -> Delays:
        return self._model.to_client

    def _next_timer(self) -> int | None:
        return ClientActor.next_timer(self)


class Services:
    """Makes the actors of one simulation, which take the time that ``model`` says, drawn from streams of ``seed``."""

    def __init__(self, model: ServiceModel, seed: int, brokers: Collection[Address]) -> None:
        self._model = model
        self._seed = seed
        self._brokers = frozenset(brokers)
        self._fleets: dict[str, Core] = {}

    def broker(self, address: Address, broker: Broker, incarnation: int = 0) -> ServedBroker:
        chance = Stream(derive_seed(self._seed, "service", *address, incarnation))
        return ServedBroker(address, broker, self._model, chance, self._brokers)

    def client(self, simulator: Simulator, client: ScheduledClient, host: str) -> ServedClient:
        core = self._fleets.setdefault(fleet_of(client.plan), Core())
        chance = Stream(derive_seed(self._seed, "service", client.plan.role, client.plan.client))
        return ServedClient(simulator, client, host, self._model, core, chance)


def _code(data: bytes) -> int:
    """The code of a message; -1 of what has none that can be read."""
    head = data[: data.find(b"|")]
    return int(head) if head.isdigit() else -1
