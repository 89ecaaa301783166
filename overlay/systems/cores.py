"""What a system makes: servers, fleets of clients, orders, and meters of work. Drivers use them only through these
protocols.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from overlay.core.addresses import Address
from overlay.core.node import Node
from overlay.core.service_times import Work
from overlay.systems.roles import Identity

if TYPE_CHECKING:  # imported for annotations only, to save memory in broker processes
    from overlay.journal.facts import ClientFact
    from overlay.load.tally import Tally

ORDERS_AT_ONCE = 64
"""Maximum orders of a controller in progress."""
OTHER = ""
"""The name of messages that a meter does not tell apart."""
Plan = Any
"""One client of a workload; the type depends on the system."""


class Server(Node, Protocol):
    """A long-lived node, such as a broker, a gateway or a registry. A driver may wrap it in a recorder."""

    @property
    def address(self) -> Address: ...
    @property
    def knows(self) -> Callable[[Address], bool]:
        """Whether a sender is known; under overload, known senders are served before strangers."""
        ...

    def set_wall_clock(self, offset_ns: int) -> None:
        """Unix nanoseconds minus ``now``."""
        ...

    def statistics(self, now: int) -> dict[str, int]:
        """Its counters, for a tick."""
        ...

    def traces(self) -> Sequence[Any]:
        """Steps of traced requests since the last call; ``System.facts`` converts them to facts."""
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
    def identity(self) -> Identity: ...

    @property
    def is_finished(self) -> bool:
        """Whether all intended messages have been sent and all exchanges have ended."""
        ...

    def receive_datagram(self, lane: int, data: bytes, source: Address, now: int) -> bool:
        """Returns whether there is new output or an earlier timer."""
        ...

    def handle_timer(self, now: int) -> None: ...
    def next_timer(self) -> int | None: ...
    def datagrams_to_send(self) -> Sequence[tuple[int, bytes, Address]]:
        """``(lane, datagram, destination)``."""
        ...

    def lanes_to_close(self) -> Sequence[int]: ...
    def facts(self) -> Sequence[ClientFact]:
        """Facts since the last call: samples of exchanges, deliveries, connections, hand-overs."""
        ...

    def abandon(self, now: int) -> None:
        """The run has ended: open exchanges time out."""
        ...


class Fleet(Protocol):
    """The clients of one process."""

    @property
    def clients(self) -> Sequence[Client]: ...
    @property
    def tally(self) -> Tally: ...
    def set_wall_clock(self, offset_ns: int) -> None: ...


class Exchange(Node, Protocol):
    """The exchange of an order, from a port that is used once."""

    @property
    def broker(self) -> Address:
        """The broker that it talks to."""
        ...

    @property
    def is_over(self) -> bool: ...


class Order(Protocol):
    """One command to one server."""


class Assembly(Protocol):
    """The orders that turn started servers into a working overlay. ``up`` maps indices of servers to incarnations."""

    trouble: str
    """The permanent obstacle to completion; empty if there is none."""

    def due(self, up: Mapping[int, int], now: int, room: int) -> Sequence[Any]:
        """The orders that are due, at most ``room``. Call ``begin`` for each, and ``settle`` when its exchange ends."""
        ...

    def begin(self, order: Any, servers: Sequence[Address], now: int, wall_offset_ns: int) -> Exchange: ...
    def settle(self, order: Any, exchange: Any, now: int) -> None: ...
    def is_complete(self, up: Mapping[int, int]) -> bool:
        """Whether every server is up and there are no further orders."""
        ...

    def next_retry(self, now: int) -> int | None:
        """The time of the next retry, or ``None``."""
        ...

    def assume(self, up: Mapping[int, int]) -> None:
        """Mark all orders of these incarnations as done by other means."""
        ...


class Introduction(Protocol):
    """Replaces the orders of an assembly in virtual time, where they would take longer than a run."""

    settling_ns: int
    """The pause between introducing servers and the start of the load."""

    def introduce(self, server: Any, neighbours: Iterable[Address], controller: Address, now: int) -> None:
        """Put ``server`` into the state after all orders."""
        ...


class NoOrders:
    """The assembly of servers that need no orders: complete when all are up."""

    def __init__(self, servers: int) -> None:
        self._servers = servers
        self.trouble = ""

    def due(self, up: Mapping[int, int], now: int, room: int) -> Sequence[Any]:
        return ()

    def begin(self, order: Any, servers: Sequence[Address], now: int, wall_offset_ns: int) -> Exchange:
        raise AssertionError("this assembly has no orders")

    def settle(self, order: Any, exchange: Any, now: int) -> None:
        raise AssertionError("this assembly has no orders")

    def is_complete(self, up: Mapping[int, int]) -> bool:
        return len(up) == self._servers

    def next_retry(self, now: int) -> int | None:
        return None

    def assume(self, up: Mapping[int, int]) -> None:
        pass


class Meter:
    """Counts the work of one server or client for the service-time model. This default tells no messages apart."""

    def work(self, received: Sequence[bytes], sent: Sequence[bytes]) -> Work:
        """The work for the datagrams received and sent since the last call."""
        moved = sum(map(len, received)) + sum(map(len, sent))
        return Work([OTHER] * len(received), [OTHER] * len(sent), moved)
