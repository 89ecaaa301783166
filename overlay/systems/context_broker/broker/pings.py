"""Monitoring: pings each neighbour, drops one that misses several pings in a row, and restores it when it answers.

The prototype never restored neighbours, so a partition of half a minute, or plain loss, cut links permanently. The
intervals between pings of a dropped neighbour grow by half each time, so it is restored after at most half the
duration of the outage.

If suspicion is on, it precedes a drop (``suspicion``). ``on_lost`` is called for each drop, for the rest of the broker
(``departures``).
"""

from __future__ import annotations

from collections.abc import Callable

from overlay.core.addresses import Address, format_address
from overlay.core.node import MILLISECOND
from overlay.systems.context_broker.broker.events import MonitoringStarted, NeighbourLost, NeighbourReturned
from overlay.systems.context_broker.broker.members import Absence, Members
from overlay.systems.context_broker.broker.station import Station
from overlay.systems.context_broker.broker.suspicion import LEAST_TO_JUDGE, Suspecting
from overlay.systems.context_broker.wire.messages import Ping

LONGEST_GAP = 60
"""Maximum interval between two pings of a dropped neighbour, in ping intervals."""


class Monitor:
    __slots__ = (
        "_interval",
        "_members",
        "_next_round",
        "_on_lost",
        "_slowest",
        "_station",
        "_suspecting",
        "_unanswered",
    )

    def __init__(
        self, station: Station, members: Members, suspecting: Suspecting, on_lost: Callable[[Address, int], None]
    ) -> None:
        self._station = station
        self._members = members
        self._suspecting = suspecting
        self._on_lost = on_lost
        self._interval = station.config.ping_interval_ms * MILLISECOND
        self._unanswered: dict[Address, int] = {}
        """Consecutive unanswered pings by neighbour."""
        self._next_round: int | None = None
        self._slowest = 0
        """The longest round trip (ns) of this round so far."""

    @property
    def is_on(self) -> bool:
        return self._next_round is not None

    def start(self, now: int) -> None:
        """Idempotent."""
        if not self.is_on:
            self._next_round = now
            self._station.report(MonitoringStarted())
            self.handle_timer(now)

    def accept_ping_response(self, source: Address, now: int) -> bool:
        """Handle the answer of a neighbour or a dropped one; ``False`` if no ping was open."""
        if source in self._members.dropped:
            return self._take_back(source)
        self._members.suspects.pop(source, None)
        missed = self._unanswered.pop(source, None)
        if missed == 1 and self._next_round is not None:  # with two open pings the round trip is ambiguous
            self._slowest = max(self._slowest, now - (self._next_round - self._interval))
            self._members.round_trip_ns = max(self._members.round_trip_ns, self._slowest)
        return missed is not None

    def doubt(self, address: Address, now: int) -> bool:
        """Drop a neighbour because of a notice, and ping it at once: if the notice is false, it is soon restored.

        Returns whether it had missed our own pings.
        """
        has_missed = self._unanswered.get(address, 0) > 1  # the answer to the last ping may be in transit
        self._drop(address, now)
        self._ping(address, now)
        return has_missed

    def handle_timer(self, now: int) -> None:
        if self._next_round is not None and self._next_round <= now:
            self._next_round = now + self._interval
            self._ping_neighbours(now)
        for address, absence in self._members.dropped.items():
            if absence.next_ping <= now:
                absence.gap = min(absence.gap * 3 // 2, LONGEST_GAP * self._interval)
                absence.next_ping = now + absence.gap
                self._ping(address, now)

    def next_timer(self) -> int | None:
        if not self._members.dropped:
            return self._next_round
        next_ping = min(absence.next_ping for absence in self._members.dropped.values())
        return next_ping if self._next_round is None else min(self._next_round, next_ping)

    def _ping_neighbours(self, now: int) -> None:
        if self._slowest:
            self._members.round_trip_ns, self._slowest = self._slowest, 0
        unanswered, most = self._unanswered, self._station.config.ping_misses
        self._unanswered = {}  # drops former neighbours
        in_doubt = self._is_in_doubt(unanswered)
        lost = []
        for address in self._members.neighbours:
            missed = unanswered.get(address, 0)
            if missed >= most and self._suspecting.is_dead(address, now, in_doubt=in_doubt):
                self._drop(address, now)
                lost.append(address)
            else:
                self._unanswered[address] = min(missed + 1, most)
                self._ping(address, now)
        for address in lost:
            self._on_lost(address, now)

    def _is_in_doubt(self, unanswered: dict[Address, int]) -> bool:
        """Whether most pings of the last round failed, so that the cause may be this broker."""
        neighbours = self._members.neighbours
        failed = sum(address in unanswered for address in neighbours)
        return len(neighbours) >= LEAST_TO_JUDGE and 2 * failed > len(neighbours)

    def _drop(self, address: Address, now: int) -> None:
        self._unanswered.pop(address, None)
        self._members.drop(address, Absence(now + self._interval, self._interval))
        self._station.report(NeighbourLost(format_address(address)))

    def _take_back(self, address: Address) -> bool:
        if not self._members.has_room_for(address):
            return True
        self._members.add(address)
        self._station.report(NeighbourReturned(format_address(address)))
        return True

    def _ping(self, address: Address, now: int) -> None:
        self._station.send_message(Ping(self._station.wall_ms(now)), address, now)

    def check_invariants(self) -> None:
        assert self.is_on or not (self._unanswered or self._members.suspects)
        assert all(1 <= missed <= self._station.config.ping_misses for missed in self._unanswered.values())
