"""The ports of a pool. A port (lane) belongs to one broker and has one exchange at a time.

It is used again when its exchange is over and nothing more can arrive. Otherwise it is closed, so that a late answer
reaches no other exchange. Numbers are never used again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from overlay.core.addresses import Address
from overlay.systems.context_broker.clients.exchange import Exchange, Timestamps, WallClock

if TYPE_CHECKING:
    from overlay.systems.context_broker.pool.pool_requests import PoolRequest

MOST_LANES = 256
"""Ports of one network, each an open file. A request beyond them is refused at once, not queued."""
MOST_OF_ONE = MOST_LANES // 2
"""Ports to one broker, unless it is the only one: one that hangs leaves the others theirs."""
MOST_IDLE = 16
"""Unused ports kept per broker."""

Open = Callable[[int, Address], Address | None]
"""Opens the port of a lane towards a broker. Returns its own address; ``None`` without a route."""


class Lane:
    """A port, its broker, and what it is used for now."""

    __slots__ = ("broker", "current", "number", "own", "timestamps")

    def __init__(self, number: int, broker: Address, own: Address, wall: WallClock) -> None:
        self.number = number
        self.broker = broker
        self.own = own
        self.timestamps = Timestamps(wall)
        self.current: Try | None = None


class Try:
    """An exchange for a request; without one, a ping of the pool's own."""

    __slots__ = ("exchange", "is_hedge", "lane", "request")

    def __init__(self, lane: Lane, exchange: Exchange, request: PoolRequest | None, is_hedge: bool) -> None:
        self.lane = lane
        self.exchange = exchange
        self.request = request
        self.is_hedge = is_hedge


class Ports:
    """At most ``MOST_LANES``, and for each of several brokers at most ``MOST_OF_ONE``."""

    def __init__(self, wall: WallClock, open_port: Open) -> None:
        self._wall = wall
        self._open_port = open_port
        self._lanes: dict[int, Lane] = {}
        self._idle: dict[Address, list[Lane]] = {}
        self._opened = 0
        self._of = Counter[Address]()
        """Ports by broker."""
        self._most_of_one = MOST_LANES
        self.closing: list[int] = []
        """Numbers of lanes that the driver is to close."""

    @property
    def has_room(self) -> bool:
        return len(self._lanes) < MOST_LANES or any(self._idle.values())

    def current_on(self, number: int) -> Try | None:
        """What a lane is used for; ``None`` also for one that is closed."""
        lane = self._lanes.get(number)
        return None if lane is None else lane.current

    def in_use(self) -> Iterable[Try]:
        """A snapshot, so that lanes can be released while iterating."""
        return [lane.current for lane in self._lanes.values() if lane.current is not None]

    def take(self, broker: Address, *, is_ping: bool = False) -> Lane | None:
        """An unused lane to this broker, or a new one; ``None`` without a route, or room for one more to it."""
        idle = self._idle.get(broker)
        if idle:
            return idle.pop()
        if self._of[broker] >= self._most_of_one and not is_ping:
            return None
        if len(self._lanes) >= MOST_LANES and not self._close_an_idle_one():
            return None
        self._opened += 1
        own = self._open_port(self._opened, broker)
        if own is None:
            return None
        lane = self._lanes[self._opened] = Lane(self._opened, broker, own, self._wall)
        self._of[broker] += 1
        return lane

    def release(self, one: Try) -> bool:
        """Its lane is free: kept if nothing more can arrive there. False if it was released before."""
        lane = one.lane
        if lane.current is not one:
            return False
        lane.current = None
        idle = self._idle.setdefault(lane.broker, [])
        is_traced = one.request is not None and one.request.trace_one_in  # its timestamp may lie ahead of the clock
        if one.exchange.is_clean and not is_traced and len(idle) < MOST_IDLE:
            idle.append(lane)
        else:
            self._close(lane)
        return True

    def keep(self, brokers: Collection[Address]) -> None:
        """Close unused lanes to all other brokers."""
        self._most_of_one = MOST_LANES if len(brokers) < 2 else MOST_OF_ONE
        for broker in [one for one in self._idle if one not in brokers]:
            for lane in self._idle.pop(broker):
                self._close(lane)

    def take_closing(self) -> Sequence[int]:
        closing, self.closing = self.closing, []
        return closing

    def _close_an_idle_one(self) -> bool:
        lanes = next((lanes for lanes in self._idle.values() if lanes), None)
        if lanes is None:
            return False
        self._close(lanes.pop())
        return True

    def _close(self, lane: Lane) -> None:
        del self._lanes[lane.number]
        self._of[lane.broker] -= 1
        if not self._of[lane.broker]:
            del self._of[lane.broker]
        self.closing.append(lane.number)

    def check_invariants(self) -> None:
        assert len(self._lanes) <= MOST_LANES
        assert self._of == Counter(lane.broker for lane in self._lanes.values())
        idle = [lane for lanes in self._idle.values() for lane in lanes]
        assert len(idle) == len(set(idle)), "a port is given away twice"
        assert all(lane.current is None and self._lanes.get(lane.number) is lane for lane in idle)
        assert all((lane.current is None) == (lane in idle) for lane in self._lanes.values())
