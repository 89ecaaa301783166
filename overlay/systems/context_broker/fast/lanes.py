"""The commonest messages (2, 3, 4, 32), from their bytes to the part of a broker that handles them.

Counterparts: ``sliced`` reads them here. What it does not read is parsed (``wire.codec``), and comes to the same parts
as a message: ``Storing.handle_update``, ``Searching.handle_request`` and ``handle_response``.
"""

from __future__ import annotations

from collections.abc import Callable

from overlay.core.addresses import Address
from overlay.core.node import NEVER
from overlay.systems.context_broker.broker.joining import Joining
from overlay.systems.context_broker.broker.members import Members
from overlay.systems.context_broker.broker.queries import Answer, Request
from overlay.systems.context_broker.broker.searching import Searching
from overlay.systems.context_broker.broker.station import Station
from overlay.systems.context_broker.broker.storing import Storing
from overlay.systems.context_broker.fast.forwards import Forwards, are_plain
from overlay.systems.context_broker.fast.sliced import read_answer, read_request, read_update

Lane = Callable[[bytes, Address, int], int | None]
"""Takes a datagram; the instant at which it has made something come due, ``None`` where the datagram is to be parsed.

The instant may be too early, and is ``NEVER`` where nothing comes due that did not before.
"""


class Lanes:
    def __init__(
        self, station: Station, members: Members, joining: Joining, searching: Searching, storing: Storing
    ) -> None:
        self._station = station
        self._searching = searching
        self._storing = storing
        self._confirms = storing.replicas is not None  # an answer that marks has a confirmation come due
        self._forwards = Forwards(station, members, joining, searching, storing) if are_plain(station.config) else None

    def by_head(self) -> dict[bytes, Lane]:
        """By the first two bytes of a datagram; one with another code that begins so is none of theirs."""
        request = self._split_request
        return {b"2|": self._take_update, b"3|": request, b"4|": self.take_answer, b"32": request}

    def add_to(self, counters: dict[str, int]) -> None:
        """Add what was counted here to all counters of a broker."""
        if self._forwards is not None:
            self._forwards.add_to(counters)

    def take_request(
        self, data: bytes, is_quiet: bool, stamp: bytes, rest: bytes, source: Address, now: int
    ) -> int | None:
        """What a ``Lane`` does; ``data`` is ``32|stamp|rest`` where it is quiet, else ``3|stamp|rest``."""
        read = read_request(data, stamp, rest)
        if read is None:
            return None
        timestamp, key, hops, path = read
        if self._forwards is not None:
            deadline = self._forwards.send_on(timestamp, key, hops, path, is_quiet, source, now)
            if deadline is not None:
                return deadline
        self._station.received[32 if is_quiet else 3] += 1
        self._searching.serve(Request(timestamp, key, hops, path, is_quiet), source, now)
        due = _earliest(self._searching)
        return min(due, _earliest(self._storing)) if self._confirms else due

    def take_answer(self, data: bytes, source: Address, now: int) -> int | None:
        """A ``Lane``."""
        read = read_answer(data)
        if read is None:
            return None
        data, _, path, is_marked, key, valid_end = read
        forwards = None if is_marked or valid_end <= self._station.wall_ms(now) else self._forwards
        if forwards is not None and forwards.pass_back(data, key + path, source, now):
            return NEVER
        if not self._searching.handle_answer(Answer(*read), source, now):
            return None
        self._station.received[4] += 1
        return min(_earliest(self._storing), _earliest(self._searching))

    def _split_request(self, data: bytes, source: Address, now: int) -> int | None:
        code, _, rest = data.partition(b"|")
        if code != b"3" and code != b"32":
            return None
        stamp, _, rest = rest.partition(b"|")
        return self.take_request(data, code == b"32", stamp, rest, source, now)

    def _take_update(self, data: bytes, source: Address, now: int) -> int | None:
        entry = read_update(data)
        if entry is None:
            return None
        self._station.received[2] += 1
        self._storing.take_update(entry, source, now)
        return _earliest(self._storing)


def _earliest(part: Searching | Storing) -> int:
    timer = part.next_timer()
    return NEVER if timer is None else timer
