"""Tells clients and brokers that look for a network of the broker's load and of some of its neighbours (38).

Counterpart: ``clients.bootstrap`` asks. A broker creates it with the first question; until then it costs nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from overlay.core.addresses import Address
from overlay.core.node import SECOND
from overlay.systems.context_broker.broker.members import Members
from overlay.systems.context_broker.broker.opennet import AMPLIFICATION
from overlay.systems.context_broker.broker.station import Station
from overlay.systems.context_broker.wire.codec import encode
from overlay.systems.context_broker.wire.discovery_messages import BrokersRequest, BrokersResponse

MOST = 32
"""Addresses in an answer."""
LOAD = ("in_2", "in_3", "in_4", "in_6", "in_32")
"""The counters whose growth is the load."""
LEAST_SPAN = SECOND
"""Load is the average since the last question that was so long ago."""


class Directory:
    __slots__ = ("_at", "_count", "_counted", "_epoch", "_load_per_s", "_members", "_station", "_turn")

    def __init__(self, station: Station, members: Members, counted: Callable[[], int], started: int) -> None:
        """``counted`` is the sum of the counters of ``LOAD`` since ``started``, monotonic nanoseconds."""
        self._station = station
        self._epoch = station.wall_ms(started)
        self._members = members
        self._counted = counted
        self._at, self._count, self._load_per_s = started, 0, 0
        self._turn = 0
        """Which neighbour comes first in the next answer: each is told to a part of those that ask."""

    def handle_request(self, request: BrokersRequest, source: Address, now: int) -> None:
        answer = BrokersResponse(request.timestamp, self._epoch, self._load(now), self._some(min(request.most, MOST)))
        if not self._station.knows(source):
            fitting = AMPLIFICATION * len(encode(request))
            while answer.brokers and len(encode(answer)) > fitting:
                answer.brokers = answer.brokers[:-1]
        self._turn += len(answer.brokers)
        self._station.send_message(answer, source, now)

    def _some(self, most: int) -> tuple[Address, ...]:
        """The neighbours whose turn it is, without suspects."""
        known = [one for one in self._members.neighbours if one not in self._members.suspects]
        if not known:
            return ()
        begin = self._turn % len(known)
        return tuple([*known[begin:], *known[:begin]][:most])

    def _load(self, now: int) -> int:
        elapsed = now - self._at
        if elapsed >= LEAST_SPAN:
            count = self._counted()
            self._load_per_s = (count - self._count) * SECOND // elapsed
            self._at, self._count = now, count
        return self._load_per_s
