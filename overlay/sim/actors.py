"""Actors drive cores: a node at one address, a client with its ports, a controller with its exchanges."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from overlay.core.addresses import Address
from overlay.core.node import Node, NodeEvent
from overlay.journal.facts import ClientFact
from overlay.sim.simulator import WALL_OFFSET_NS, Actor, Outgoing, Simulator
from overlay.systems.cores import ORDERS_AT_ONCE, Assembly, Client, Exchange, Order

Feed = Callable[[int], None]
"""Gives a node, at ``now``, what the log has for it (``overlay.sim.log``)."""


class NodeActor(Actor):
    """A ``Node`` at one address. ``history`` contains its events, with their times."""

    __slots__ = ("_timer", "address", "feed", "history", "node")

    def __init__(self, address: Address, node: Node) -> None:
        super().__init__()
        self.address = address
        self.node = node
        self.feed: Feed | None = None
        """``None``: it has no log."""
        self.history: list[tuple[int, NodeEvent]] = []
        self._timer: int | None = None
        """The node's timer after the last step."""

    def receive(self, data: bytes, source: Address, to: Address, now: int) -> int | None:
        self.node.receive_datagrams(((data, source),), now)
        return None

    def step(self, now: int) -> Sequence[Outgoing]:
        node = self.node
        if self.feed is not None:
            self.feed(now)
        timer = node.next_timer()
        if timer is not None and timer <= now:
            node.handle_timer(now)
            timer = node.next_timer()
        self._timer = timer
        events = node.events()
        if events:
            self.history += [(now, event) for event in events]
        address = self.address
        return [(data, address, to) for data, to in node.datagrams_to_send()]

    def next_timer(self) -> int | None:
        return self._timer

    def fault(self, document: Mapping[str, Any], begins: bool, now: int) -> None:
        """A fault of its system begins or ends. Wake it afterwards."""
        node: Any = self.node
        node.fault(document, begins, now)

    @property
    def backlog_dropped(self) -> int:
        """Datagrams dropped because the backlog was full; always 0 without service times."""
        return 0


class Stopped(Actor):
    """Replaces a ``NodeActor`` whose process is stopped, as by SIGSTOP: datagrams wait in its socket."""

    def __init__(self, actor: NodeActor) -> None:
        super().__init__()
        self.actor = actor
        self._waiting: list[tuple[bytes, Address, Address]] = []

    def receive(self, data: bytes, source: Address, to: Address, now: int) -> None:
        self._waiting.append((data, source, to))

    def step(self, now: int) -> tuple[()]:
        return ()

    def next_timer(self) -> None:
        return None

    def hand_over(self, now: int) -> None:
        """Let the actor read all waiting datagrams."""
        for data, source, to in self._waiting:
            self.actor.receive(data, source, to, now)


class CheckedActor(NodeActor):
    """Asserts its node's invariants after each step, which takes longer than the step."""

    __slots__ = ()

    def step(self, now: int) -> Sequence[Outgoing]:
        outgoing = super().step(now)
        server: Any = self.node
        server.check_invariants()
        assert self._timer == server.next_timer(), "its output was taken, which must not change its timer"
        return outgoing


FIRST_PORT = 1025
"""The first port of a simulated host."""


class Ports:
    """New addresses on one host. Addresses are never reused, so a late answer reaches no other exchange."""

    def __init__(self, host: str) -> None:
        self._host = host
        self._next = FIRST_PORT - 1

    def fresh(self) -> Address:
        self._next += 1
        return self._host, self._next


class ClientActor(Actor):
    """A client of a workload. Each of its lanes is a port on its host; ports are never reused."""

    __slots__ = ("_host", "_simulator", "client", "facts", "feed", "open_ports")

    def __init__(self, simulator: Simulator, client: Client, host: str) -> None:
        super().__init__()
        self.client = client
        self.facts: list[ClientFact] = []
        self.feed: Feed | None = None
        """As of a ``NodeActor``."""
        self.open_ports = 0
        self._simulator = simulator
        self._host = host

    @property
    def host(self) -> str:
        return self._host

    def has(self, address: Address) -> bool:
        """Whether this port of its host is open."""
        return self._simulator.is_taken(address)

    def receive(self, data: bytes, source: Address, to: Address, now: int) -> int | None:
        self.client.receive_datagram(to[1] - FIRST_PORT, data, source, now)
        return None

    def step(self, now: int) -> Sequence[Outgoing]:
        if self.feed is not None:
            self.feed(now)
        timer = self.client.next_timer()
        if timer is not None and timer <= now:
            self.client.handle_timer(now)
        outgoing = [(data, self._open(lane), to) for lane, data, to in self.client.datagrams_to_send()]
        self.facts += self.client.facts()
        for lane in self.client.lanes_to_close():
            address = self._host, FIRST_PORT + lane
            if self._simulator.is_taken(address):
                self._simulator.close(address)
                self.open_ports -= 1
        return outgoing

    def next_timer(self) -> int | None:
        return self.client.next_timer()

    def fault(self, document: Mapping[str, Any], begins: bool, now: int) -> None:
        """The same as for a ``NodeActor``."""
        client: Any = self.client
        client.fault(document, begins, now)

    def _open(self, lane: int) -> Address:
        address = self._host, FIRST_PORT + lane
        if not self._simulator.is_taken(address):
            self._simulator.listen(address, self)
            self.open_ports += 1
        return address


class ControllerActor(Actor):
    """Orders joins and monitoring, like ``overlay.runtime.orders``, whenever orders are due for ``up``."""

    def __init__(self, simulator: Simulator, assembly: Assembly, addresses: Sequence[Address], host: str) -> None:
        super().__init__()
        self.assembly = assembly
        self.up: dict[int, int] = {}
        """The incarnation of each running broker. Wake the controller after a change."""
        self._simulator = simulator
        self._addresses = addresses
        self._ports = Ports(host)
        self._open: dict[Address, tuple[Order, Exchange]] = {}

    def is_complete(self) -> bool:
        return self.assembly.is_complete(self.up)

    def receive(self, data: bytes, source: Address, to: Address, now: int) -> None:
        self._open[to][1].receive_datagrams(((data, source),), now)

    def step(self, now: int) -> Sequence[Outgoing]:
        for _, exchange in self._open.values():
            exchange.handle_timer(now)
        self._settle(now)
        for order in self.assembly.due(self.up, now, ORDERS_AT_ONCE - len(self._open)):
            self._give(order, now)
        return [(d, port, to) for port, (_, e) in self._open.items() for d, to in e.datagrams_to_send()]

    def next_timer(self) -> int | None:
        timers = [exchange.next_timer() for _, exchange in self._open.values()]
        timers.append(self.assembly.next_retry(self._simulator.now))
        return min((timer for timer in timers if timer is not None), default=None)

    def _give(self, order: Order, now: int) -> None:
        port = self._ports.fresh()
        self._open[port] = (order, self.assembly.begin(order, self._addresses, now, WALL_OFFSET_NS))
        self._simulator.listen(port, self)

    def _settle(self, now: int) -> None:
        for port, (order, exchange) in list(self._open.items()):
            if not exchange.is_over:
                continue
            del self._open[port]
            self._simulator.close(port)
            self.assembly.settle(order, exchange, now)
