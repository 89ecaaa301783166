"""The messages that come most, from their bytes to the part that handles them.

Counterparts: ``sliced`` reads them here; what it does not know is parsed, and comes to the same parts as a message.
"""

from __future__ import annotations

from collections.abc import Callable

from overlay.addresses import Address
from overlay.broker.extensions import QuietRequest
from overlay.broker.messages import ContextRequest, ContextUpdateAdvertisement
from overlay.broker.searching import Searching
from overlay.broker.sliced import read_answer, read_request, read_update, request_of
from overlay.broker.station import Station
from overlay.broker.storing import Storing
from overlay.broker.table import Entry

Lane = Callable[[bytes, Address, int], bool]
"""Whether a datagram was handled; if not, it is to be parsed."""


class Lanes:
    def __init__(self, station: Station, searching: Searching, storing: Storing) -> None:
        self._station = station
        self._searching = searching
        self._storing = storing

    def by_code(self) -> dict[bytes, Lane]:
        request = self._take_request
        return {b"2": self._take_update, b"3": request, b"4": self._take_answer, b"32": request}

    def handle_request(self, message: ContextRequest, source: Address, now: int) -> None:
        request = request_of(message, is_quiet=isinstance(message, QuietRequest))
        self._searching.handle_request(request, source, now)

    def handle_update(self, message: ContextUpdateAdvertisement, source: Address, now: int) -> None:
        self._storing.handle_update(Entry.of(message), source, now)

    def _take_request(self, data: bytes, source: Address, now: int) -> bool:
        request = read_request(data)
        if request is None:
            return False
        self._station.received[32 if request.is_quiet else 3] += 1
        self._searching.handle_request(request, source, now)
        return True

    def _take_answer(self, data: bytes, source: Address, now: int) -> bool:
        answer = read_answer(data)
        if answer is None or not self._searching.handle_answer(answer, source, now):
            return False
        self._station.received[4] += 1
        return True

    def _take_update(self, data: bytes, source: Address, now: int) -> bool:
        entry = read_update(data)
        if entry is None:
            return False
        self._station.received[2] += 1
        self._storing.handle_update(entry, source, now)
        return True
