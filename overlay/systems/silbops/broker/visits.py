"""Messages to any broker of the network, for clients that move. Neighbours have a session; with others one is opened.

What cannot be delivered waits until the broker is there again, at most for 10 s.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

from overlay.core.addresses import Address
from overlay.core.node import SECOND
from overlay.systems.silbops.broker.station import Clock, Station
from overlay.systems.silbops.wire import messages as m

MOST_WAITING = 10_000
"""Messages to one broker."""
RETRY = SECOND
WAIT = 10 * SECOND
IDLE = 60 * SECOND
"""A session that was opened here ends so long after its last use, beyond handover_s."""


class Visit:
    __slots__ = ("since", "waiting")

    def __init__(self) -> None:
        self.waiting: deque[Any] = deque()
        self.since: int | None = None
        """When the first of them began to wait."""


class Visits:
    def __init__(self, station: Station, brokers: Mapping[str, Address], neighbours: Iterable[str]) -> None:
        self._station, self._brokers, self._neighbours = station, brokers, frozenset(neighbours)
        self._up: set[str] = set()
        self._visits: dict[str, Visit] = {}
        """By broker that something waits for, or whose session was opened here."""
        self._idle = IDLE + round(station.settings.handover_s * SECOND)

    def knows(self, broker: str) -> bool:
        return broker in self._brokers and broker != self._station.name

    @property
    def waiting(self) -> int:
        return sum(len(one.waiting) for one in self._visits.values())

    def send(self, broker: str, message: Any) -> None:
        if broker in self._up and self._station.pressure.send(broker.encode(), message):
            if broker in self._visits:
                self._station.set_timer(Clock.VISIT, broker, self._station.now + self._idle)
        elif self._station.peers.encoded(message) is None:
            self._station.counters["visits_given_up"] += 1
        else:
            self._wait(broker, (message,))

    def up(self, broker: str) -> None:
        self._up.add(broker)
        visit = self._visits.get(broker)
        if visit is None:
            return
        waiting, visit.waiting, visit.since = visit.waiting, deque(), None
        if broker in self._neighbours:
            self._drop(broker)
        else:
            self._station.set_timer(Clock.VISIT, broker, self._station.now + self._idle)
        for message in waiting:
            self.send(broker, message)

    def down(self, broker: str, undelivered: Iterable[Any]) -> None:
        """What was about clients that move is sent again. Changes and publications are not: the next session begins
        with all that the neighbour is to know."""
        self._up.discard(broker)
        again = [one for one in undelivered if isinstance(one, m.Move | m.Take | m.Notify)]
        if again or (broker in self._visits and self._visits[broker].waiting):
            self._wait(broker, again)
        else:
            self._drop(broker)

    def ring(self, broker: str) -> None:
        """Try again, or end what is idle."""
        visit, now = self._visits[broker], self._station.now
        if broker in self._up:
            self._drop(broker)
            self._station.peers.close(broker.encode())
        elif visit.since is None or visit.since + WAIT <= now:
            self._station.counters["visits_given_up"] += len(visit.waiting)
            self._drop(broker)
        else:
            self._try(broker)

    def check_invariants(self) -> None:
        """Raises ``AssertionError``."""
        for broker, visit in self._visits.items():
            assert len(visit.waiting) <= MOST_WAITING
            assert (Clock.VISIT, broker) in self._station.timers
            assert bool(visit.waiting) == (visit.since is not None)

    def _wait(self, broker: str, messages: Iterable[Any]) -> None:
        visit = self._visits.setdefault(broker, Visit())
        for message in messages:
            if len(visit.waiting) < MOST_WAITING:
                visit.waiting.append(message)
            else:
                self._station.counters["visits_given_up"] += 1
        if visit.waiting and visit.since is None:
            visit.since = self._station.now
        if (Clock.VISIT, broker) not in self._station.timers or broker not in self._up:
            self._try(broker)

    def _try(self, broker: str) -> None:
        """A neighbour's session is opened by its own room."""
        self._station.set_timer(Clock.VISIT, broker, self._station.now + RETRY)
        if broker not in self._neighbours:
            self._station.peers.open(broker.encode(), self._brokers[broker])

    def _drop(self, broker: str) -> None:
        if self._visits.pop(broker, None) is not None:
            self._station.cancel(Clock.VISIT, broker)
