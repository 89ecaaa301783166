"""Where nodes are, and which of them were told to move (contract, section 5; measures, edge cases)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from heapq import nsmallest
from typing import NamedTuple

from overlay.systems.contextnet.poa.reports import Report


class Seat(NamedTuple):
    """Of a node with an open connection."""

    gateway: str
    epoch: int
    since: int
    """When a report first showed it there."""
    rtt_us: int | None
    """Of the last round of pings; ``None``: it did not answer in time."""


class Order(NamedTuple):
    """To move."""

    source: str
    target: str
    epoch: int
    at: int


class Seats:
    """A node that was told to move counts at its target, until reports show where it is. Times are ``now``, ns, so that
    a step of a clock changes nothing."""

    def __init__(self, patience_ns: int, lost_ns: int, hold_ns: int) -> None:
        """``patience_ns`` after its order, a node that still shows at its old gateway counts there again. One that
        shows nowhere for ``lost_ns`` is gone. None is told to move within ``hold_ns`` of its last order."""
        self._patience_ns, self._lost_ns, self._hold_ns = patience_ns, lost_ns, hold_ns
        self._seats: dict[bytes, Seat] = {}
        self._at: dict[str, dict[bytes, None]] = {}
        """The nodes of each gateway that has reported."""
        self._orders: dict[bytes, Order] = {}
        self._held: dict[bytes, int] = {}
        """When each node was last told to move, in that order."""

    # ---- what is reported

    def report(self, report: Report, now: int) -> None:
        """All nodes of a gateway. One with a higher epoch elsewhere is not there any more."""
        gateway = report.gateway
        former = self._at.get(gateway, {})
        present = self._at[gateway] = {}
        for node, epoch in report.epochs.items():
            seat = self._seats.get(node)
            if seat is not None and seat.gateway != gateway:
                if seat.epoch > epoch:
                    continue
                self._at[seat.gateway].pop(node, None)
            stays = seat is not None and (seat.gateway, seat.epoch) == (gateway, epoch)
            since = seat.since if seat is not None and stays else now
            self._seats[node] = Seat(gateway, epoch, since, report.rtts_us.get(node))
            present[node] = None
            self._judge_order(node, gateway, epoch, now)
        for node in former:
            if node not in present and self._seats[node].gateway == gateway:
                del self._seats[node]

    def _judge_order(self, node: bytes, gateway: str, epoch: int, now: int) -> None:
        order = self._orders.get(node)
        if order is None:
            return
        is_unmoved = (gateway, epoch) == (order.source, order.epoch)
        if not is_unmoved or now >= order.at + self._patience_ns:
            del self._orders[node]

    def forget(self, gateway: str) -> None:
        """It is not active: its nodes connect elsewhere."""
        for node in self._at.pop(gateway, ()):
            del self._seats[node]
        for node in [node for node, order in self._orders.items() if order.target == gateway]:
            del self._orders[node]

    def tidy(self, now: int) -> None:
        """Drop what is over."""
        for node, at in list(self._held.items()):
            if at + self._hold_ns > now:
                break
            del self._held[node]
        gone = [
            node for node, order in self._orders.items() if node not in self._seats and order.at + self._lost_ns <= now
        ]
        for node in gone:
            del self._orders[node]

    # ---- moves

    def order(self, node: bytes, target: str, now: int) -> None:
        """A node with a seat is told to move."""
        seat = self._seats[node]
        self._orders[node] = Order(seat.gateway, target, seat.epoch, now)
        self.hold(node, now)

    def hold(self, node: bytes, at: int) -> None:
        """A node was told to move, by this manager or one before it."""
        if at >= self._held.get(node, 0):
            self._held.pop(node, None)
            self._held[node] = at

    def is_held(self, node: bytes, now: int) -> bool:
        return node in self._held and now < self._held[node] + self._hold_ns

    # ---- figures

    @property
    def nodes(self) -> Mapping[bytes, Seat]:
        return self._seats

    @property
    def ordered(self) -> int:
        """Nodes that were told to move and have not been seen there."""
        return len(self._orders)

    def has_reported(self, gateway: str) -> bool:
        return gateway in self._at

    def count(self) -> dict[str, int]:
        """Nodes by gateway."""
        counts = {gateway: len(nodes) for gateway, nodes in self._at.items()}
        for node, order in self._orders.items():
            seat = self._seats.get(node)
            if seat is not None:
                counts[seat.gateway] -= 1
            counts[order.target] = counts.get(order.target, 0) + 1
        return counts

    def movable(self, gateway: str, now: int) -> Iterator[bytes]:
        for node in self._at.get(gateway, ()):
            if node not in self._orders and not self.is_held(node, now):
                yield node

    def worst(self, gateway: str, most: int, now: int) -> list[bytes]:
        """Of those that may move: the worst round-trip time first, then the longest connected; without one last."""
        return nsmallest(most, self.movable(gateway, now), key=self._badness)

    def _badness(self, node: bytes) -> tuple[bool, int, int, bytes]:
        seat = self._seats[node]
        return seat.rtt_us is None, -(seat.rtt_us or 0), seat.since, node

    def check_invariants(self) -> None:
        """Raises ``AssertionError``."""
        assert sum(map(len, self._at.values())) == len(self._seats)
        assert all(node in self._at[seat.gateway] for node, seat in self._seats.items())
