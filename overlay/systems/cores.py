"""What a system makes: servers, fleets of clients, orders, and meters of work. Drivers use them only through these
protocols.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from overlay.core.addresses import Address
from overlay.core.node import Node
from overlay.core.service_times import Work
from overlay.systems.roles import Identity

if TYPE_CHECKING:  # imported for annotations only, to save memory in broker processes
    from overlay.core.links import Link
    from overlay.journal.facts import ClientFact
    from overlay.load.tally import Tally

ORDERS_AT_ONCE = 64
"""Maximum orders of a controller in progress."""
OTHER = ""
"""The name of messages that a meter does not tell apart."""
Plan = Any
"""One client of a workload; the type depends on the system."""
Order = Any
"""One command to one server; the type depends on the system's assembly."""


class Usage(NamedTuple):
    """What the process of a server has used, and what the machine has."""

    processor_us: int
    """Since its start, user and system, microseconds; in virtual time its service times."""
    process_bytes: int
    """Resident memory; 0 in virtual time, as the next two."""
    machine_bytes: int
    machine_free: int
    """Bytes that programs can have without swapping."""


class Server(Node, Protocol):
    """A long-lived node, such as a broker, a gateway or a registry; ``Node`` has the rules for its driver.

    A recorded server is wrapped in ``overlay.journal.recorded.RecordedServer``. It allows attributes, the methods here
    and ``System.queries``; any other method raises ``TypeError``. A target of its system's own faults also has
    ``overlay.faults.kinds.Faulted.fault``; one that tells others of its load has ``set_usage(usage: Usage, now)``,
    called once a second.
    """

    @property
    def address(self) -> Address:
        """``Place.address``."""
        ...

    @property
    def knows(self) -> Callable[[Address], bool]:
        """Whether a sender is known; under overload, known senders are served before strangers."""
        ...

    def set_wall_clock(self, offset_ns: int) -> None:
        """Unix nanoseconds minus ``now``; called once a second, because the wall clock may be set."""
        ...

    def statistics(self, now: int) -> dict[str, int]:
        """Its counters, for the tick of each second. They grow from 0 at its start, except ``System.gauges``.

        Pages sum those named ``in_*`` as messages received, and ``out_*`` as messages sent.
        """
        ...

    def traces(self) -> Sequence[Any]:
        """Its reports since the last call that are neither events nor counters, such as steps of traced requests; the
        type depends on the system. ``System.facts`` calls it once a second and converts them to facts."""
        ...

    def leave(self, now: int) -> int:
        """Begin a graceful leave. Returns for how many nanoseconds it must still be driven."""
        ...

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if its state contradicts itself. Tests call it after each step."""
        ...


class Client(Protocol):
    """A client of a workload, with its own ports (*lanes*); a driver opens a socket for each lane."""

    @property
    def peer(self) -> Address | None:
        """The only server that it receives from, so that sockets can be connected; ``None`` if there are several."""
        ...

    @property
    def identity(self) -> Identity:
        """``("caller", 3)``: its role in ``System.client_roles``, and its number within the role, over all
        processes. Equal to ``System.identity`` of its plan."""
        ...

    @property
    def is_finished(self) -> bool:
        """Whether all intended messages have been sent and all exchanges have ended. The drain ends when all clients
        are finished. One that only receives is not finished before ``abandon``, or it would miss late deliveries."""
        ...

    def receive_datagram(self, lane: int, data: bytes, source: Address, now: int) -> bool:
        """Returns whether there is anything to collect: output, facts, lanes to close, an earlier timer, or the end
        (``is_finished``). After ``False``, a live driver looks at the client again only when its timer is due."""
        ...

    def handle_timer(self, now: int) -> None: ...
    def next_timer(self) -> int | None: ...
    def datagrams_to_send(self) -> Sequence[tuple[int, bytes, Address]]:
        """``(lane, datagram, destination)``."""
        ...

    def lanes_to_close(self) -> Sequence[int]:
        """Those that it has left since the last call, also if it never sent anything from one."""
        ...

    def facts(self) -> Sequence[ClientFact]:
        """Facts since the last call: samples of exchanges, deliveries, connections, hand-overs."""
        ...

    def abandon(self, now: int) -> None:
        """The drain is over (``Windows.drained``): open exchanges time out, and the last facts are collected."""
        ...


class Fleet(Protocol):
    """The clients of one process."""

    @property
    def clients(self) -> Sequence[Client]: ...
    @property
    def tally(self) -> Tally:
        """The counters of the process's ticks, shared by its clients."""
        ...

    def set_wall_clock(self, offset_ns: int) -> None:
        """Unix nanoseconds minus ``now``; called once a second."""
        ...


class Exchange(Node, Protocol):
    """The exchange of an order, from a port that is used once."""

    @property
    def broker(self) -> Address:
        """The broker that it talks to."""
        ...

    @property
    def is_over(self) -> bool: ...


class Assembly(Protocol):
    """The orders that turn started servers into a working overlay, in the supervisor or the simulator.

    ``up`` maps the indices of servers that are up to incarnations, counted from 1: a restarted server has another.
    """

    trouble: str
    """The permanent obstacle to completion; empty if there is none."""

    def due(self, up: Mapping[int, int], now: int, room: int) -> Sequence[Any]:
        """The orders that are due, at most ``room``. Drivers call ``begin`` for each, and ``settle`` when its exchange
        ends."""
        ...

    def begin(self, order: Any, servers: Sequence[Address], now: int, wall_offset_ns: int) -> Exchange:
        """``servers`` are the addresses of all servers, by index."""
        ...

    def settle(self, order: Any, exchange: Any, now: int) -> None:
        """The exchange of an order has ended, successfully or not."""
        ...

    def is_complete(self, up: Mapping[int, int]) -> bool:
        """Whether every server is up, without those that should not be, and there are no further orders."""
        ...

    def is_idle(self, up: Mapping[int, int]) -> bool:
        """Whether there are no further orders to the servers that are up."""
        ...

    def reshape(self, servers: int, links: Iterable[Link], absent: Set[int]) -> None:
        """The network has changed while it runs: it now has so many servers and these links. ``absent`` are servers
        that leave or have left, and get no orders."""
        ...

    def next_retry(self, now: int) -> int | None:
        """The time of the next retry, or ``None``."""
        ...

    def assume(self, up: Mapping[int, int]) -> None:
        """Mark all orders of these incarnations as done by other means."""
        ...


class Introduction(Protocol):
    """Replaces the orders of an assembly in virtual time, where they would take longer than a run: for more servers
    than ``overlay.sim.engine.ORDERED``."""

    settling_ns: int
    """The pause between introducing servers and the start of the load."""

    def introduce(self, server: Any, neighbours: Iterable[Address], controller: Address, now: int) -> None:
        """Put ``server`` into the state after all orders. ``neighbours`` are those in the topology; called for each of
        its nodes."""
        ...


class NoOrders:
    """The assembly of servers that need no orders: complete when all are up."""

    def __init__(self, servers: int) -> None:
        self._servers = servers
        self._absent: Set[int] = frozenset()
        self.trouble = ""

    def due(self, up: Mapping[int, int], now: int, room: int) -> Sequence[Any]:
        return ()

    def begin(self, order: Any, servers: Sequence[Address], now: int, wall_offset_ns: int) -> Exchange:
        raise AssertionError("this assembly has no orders")

    def settle(self, order: Any, exchange: Any, now: int) -> None:
        raise AssertionError("this assembly has no orders")

    def is_complete(self, up: Mapping[int, int]) -> bool:
        return len(up.keys() - self._absent) == self._servers - len(self._absent)

    def is_idle(self, up: Mapping[int, int]) -> bool:
        return True

    def reshape(self, servers: int, links: Iterable[Link], absent: Set[int]) -> None:
        self._servers, self._absent = servers, absent

    def next_retry(self, now: int) -> int | None:
        return None

    def assume(self, up: Mapping[int, int]) -> None:
        pass


class Meter:
    """Counts the work of one server or client for the service-time model. This default tells no messages apart."""

    def work(self, received: Sequence[bytes], sent: Sequence[bytes]) -> Work:
        """The work for the datagrams received and sent since the last call."""
        moved = sum(map(len, received)) + sum(map(len, sent))
        return Work(self._names(received), self._names(sent), moved, self._units())

    def charged(self, cost_ns: int) -> None:
        """The service time of the last ``work``."""

    def _names(self, datagrams: Sequence[bytes]) -> list[str]:
        """The name of each message."""
        return [OTHER] * len(datagrams)

    def _units(self) -> Mapping[str, int]:
        """Further work since the last call, by unit."""
        return {}
