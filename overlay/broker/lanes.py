"""The messages that come most, from their bytes to the part that handles them.

Counterparts: ``sliced`` reads them here; what it does not know is parsed, and comes to the same parts as a message.
"""

from __future__ import annotations

from collections.abc import Callable

from overlay.addresses import Address
from overlay.broker.extensions import QuietRequest
from overlay.broker.forwards import Forwards, are_plain
from overlay.broker.joining import Joining
from overlay.broker.members import Members
from overlay.broker.messages import ContextRequest, ContextUpdateAdvertisement
from overlay.broker.searching import Searching
from overlay.broker.sliced import read_answer, read_request, read_update, request_of
from overlay.broker.station import Station
from overlay.broker.storing import Storing
from overlay.broker.table import Entry
from overlay.node import NEVER

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
        pending, table = searching.pending, storing.table
        self._forwards = Forwards(station, members, joining, pending, table) if are_plain(station.config) else None

    def by_head(self) -> dict[bytes, Lane]:
        """By the first two bytes of a datagram; one with another code that begins so is none of theirs."""
        request = self._take_request
        return {b"2|": self._take_update, b"3|": request, b"4|": self._take_answer, b"32": request}

    def settle(self) -> None:
        """Bring the station's counters up to date."""
        if self._forwards is not None:
            self._forwards.settle()

    def handle_request(self, message: ContextRequest, source: Address, now: int) -> None:
        request = request_of(message, is_quiet=isinstance(message, QuietRequest))
        self._searching.handle_request(request, source, now)

    def handle_update(self, message: ContextUpdateAdvertisement, source: Address, now: int) -> None:
        self._storing.handle_update(Entry.of(message), source, now)

    def _take_request(self, data: bytes, source: Address, now: int) -> int | None:
        request = read_request(data)
        if request is None:
            return None
        if self._forwards is not None:
            query = self._forwards.send_on(request, source, now)
            if query is not None:
                return query.deadline
        self._station.received[32 if request.is_quiet else 3] += 1
        self._searching.handle_request(request, source, now)
        return _earliest(self._searching)

    def _take_answer(self, data: bytes, source: Address, now: int) -> int | None:
        answer = read_answer(data)
        if answer is None:
            return None
        if self._forwards is not None and self._forwards.pass_back(answer, source, now):
            return NEVER
        if not self._searching.handle_answer(answer, source, now):
            return None
        self._station.received[4] += 1
        return min(_earliest(self._storing), _earliest(self._searching))

    def _take_update(self, data: bytes, source: Address, now: int) -> int | None:
        entry = read_update(data)
        if entry is None:
            return None
        self._station.received[2] += 1
        self._storing.handle_update(entry, source, now)
        return _earliest(self._storing)


def _earliest(part: Searching | Storing) -> int:
    timer = part.next_timer()
    return NEVER if timer is None else timer
