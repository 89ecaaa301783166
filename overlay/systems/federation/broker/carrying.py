"""What a mobile broker carries: notifications that its clients published without a neighbour (seed 001, section 16).

A provider without another broker hands over what it has stored. No neighbour can have sent subscriptions for it, so
each notification is routed again, once to each neighbour that sends some.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from overlay.core.node import SECOND
from overlay.systems.federation.broker.neighbours import Neighbours
from overlay.systems.federation.broker.station import Clock, Station
from overlay.systems.federation.broker.store import MOST_STORED, MOST_STORED_BYTES
from overlay.systems.federation.wire.notes import encoded
from overlay.systems.federation.wire.values import Notification

_KEY = ""
"""Of the only deadline."""


@dataclass(slots=True)
class Carried:
    notification: Notification
    handed: set[str]
    """Neighbours that were sent it."""
    until: int
    """In ns; later as long as there is no neighbour."""
    size: int


class Carrying:
    """In the order of publication. The first to go without room are the expired ones, then the oldest."""

    def __init__(self, station: Station, neighbours: Neighbours) -> None:
        self._station, self._neighbours = station, neighbours
        settings = station.settings
        self._period = round((settings.give_up_s + 2 * settings.exchange_s) * SECOND)
        """Within it, a neighbour that is back has answered the registration of a provider."""
        self._carried: deque[Carried] = deque()
        self._bytes = 0
        self.has_link = True
        """Whether the device has a connection, as its driver says."""

    def __len__(self) -> int:
        return len(self._carried)

    def add(self, notification: Notification, handed: Iterable[str], *, was_stored: bool) -> None:
        """If there is no neighbour now, or its provider had stored it. ``handed``: those to which it was routed."""
        if self.has_link and self._neighbours.has_ready and not was_stored:
            return
        size = len(encoded(notification))
        self._carried.append(Carried(notification, set(handed), self._station.now + 2 * self._period, size))
        self._bytes += size
        if len(self._carried) > MOST_STORED or self._bytes > MOST_STORED_BYTES:
            self._make_room()
        if (Clock.CARRIED, _KEY) not in self._station.timers:
            self._set_timer()

    def owed(self, broker: str) -> Iterator[Carried]:
        """What is valid and was not sent to this neighbour."""
        wall_ms = self._station.peers.wall_ms
        return (one for one in self._carried if broker not in one.handed and one.notification.expires > wall_ms)

    def ring(self, key: str) -> None:
        """``Clock.CARRIED``: the deadlines that are not put off end at least a period after a neighbour is back."""
        now = self._station.now
        if not (self.has_link and self._neighbours.has_ready):
            for one in self._carried:
                one.until = now + 2 * self._period
        self._keep(one for one in self._carried if one.until > now)
        if self._carried:
            self._set_timer()

    def check_invariants(self) -> None:
        """(I8) and (I10). Raises ``AssertionError``."""
        assert len(self._carried) <= MOST_STORED
        assert self._bytes == sum([one.size for one in self._carried]) <= MOST_STORED_BYTES
        assert not self._carried or (Clock.CARRIED, _KEY) in self._station.timers

    def _set_timer(self) -> None:
        self._station.set_timer(Clock.CARRIED, _KEY, self._station.now + self._period)

    def _make_room(self) -> None:
        before = len(self._carried)
        self._keep(self._carried)
        while len(self._carried) > MOST_STORED or self._bytes > MOST_STORED_BYTES:
            self._bytes -= self._carried.popleft().size
        self._station.counters["dropped_carried"] += before - len(self._carried)

    def _keep(self, those: Iterable[Carried]) -> None:
        """Of these, those that are valid."""
        wall_ms = self._station.peers.wall_ms
        self._carried = deque([one for one in those if one.notification.expires > wall_ms])
        self._bytes = sum([one.size for one in self._carried])
