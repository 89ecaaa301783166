"""The degree and load of neighbours, as reported by themselves.

Only if the strategy uses it (``Strategy.watches``), as a StatsResponse has at least 1.1 kB. Each neighbour is
asked (20) when it becomes one, and again every few ping intervals, with or without monitoring. Its answer
(21) cannot be verified.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from overlay.core.addresses import Address
from overlay.core.node import MILLISECOND
from overlay.systems.context_broker.broker.members import Members
from overlay.systems.context_broker.broker.station import Station
from overlay.systems.context_broker.wire.messages import StatsRequest, StatsResponse

INTERVALS = 5
"""Ping intervals between two requests; loads are averages over this time."""


@dataclass(frozen=True, slots=True)
class Standing:
    """The last report of a neighbour."""

    degree: int | None
    """Its number of neighbours."""
    load: float | None = None
    """Messages received per second since the previous report; ``None`` for the first one."""
    received: int = 0
    """Messages received since its start, and its uptime."""
    uptime_ms: int = 0

    @classmethod
    def of(cls, counters: Mapping[str, int], before: Standing | None) -> Standing:
        received = sum(count for name, count in counters.items() if name.startswith("in_"))
        uptime_ms, load = counters.get("uptime", 0), None
        if before is not None and before.uptime_ms < uptime_ms and before.received <= received:
            load = (received - before.received) * 1000 / (uptime_ms - before.uptime_ms)
        return cls(counters.get("neighbours"), load, received, uptime_ms)


class Standings:
    __slots__ = ("_asked", "_interval", "_members", "_next_round", "_open", "_station", "known")

    def __init__(self, station: Station, members: Members) -> None:
        self._station = station
        self._members = members
        self._interval = INTERVALS * station.config.ping_interval_ms * MILLISECOND
        self._asked: tuple[Address, ...] = ()
        """The neighbours asked in the last round."""
        self._next_round = 0
        self._open: set[Address] = set()
        """Neighbours that have not answered yet."""
        self.known: dict[Address, Standing] = {}

    def handle_timer(self, now: int) -> None:
        neighbours, asked = self._members.neighbours, frozenset(self._asked)
        if now >= self._next_round:
            self._next_round, asked = now + self._interval, frozenset()
        if neighbours is not self._asked:
            self._open &= set(neighbours)
            self.known = {address: self.known[address] for address in neighbours if address in self.known}
        self._asked = neighbours
        for address in neighbours:
            if address not in asked:
                self._open.add(address)
                self._station.send_message(StatsRequest(self._station.wall_ms(now)), address, now)

    def next_timer(self) -> int | None:
        if self._members.neighbours is not self._asked:
            return 0
        return self._next_round if self._asked else None

    def accept(self, answer: StatsResponse, source: Address) -> bool:
        """Handle an answer; ``False`` if that broker was not asked."""
        if source not in self._open:
            return False
        self._open.discard(source)
        self.known[source] = Standing.of(answer.counters, self.known.get(source))
        return True

    def check_invariants(self) -> None:
        assert self._open <= set(self._asked)
        assert self.known.keys() <= set(self._asked)
