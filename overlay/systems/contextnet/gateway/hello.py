"""A gateway tells the PoA managers that it runs: at its start, when an operator drains it, and now and then, since the
log forgets and a manager may be new."""

from __future__ import annotations

from typing import Final

from overlay.core.node import SECOND
from overlay.systems.contextnet.gateway.station import Station
from overlay.systems.contextnet.records import names
from overlay.systems.contextnet.records.records import HelloPoa

PERIOD: Final = 300 * SECOND


class Hello:
    def __init__(self, station: Station) -> None:
        self._station = station
        self._incarnation = -1
        self.is_draining = False
        """Whether it is to be empty: a limit of 0 gives it no weight, so that its nodes are told to move."""

    @property
    def has_begun(self) -> bool:
        return self._incarnation >= 0

    def begin(self) -> None:
        self._incarnation = self._station.wall_us // 1_000
        self.tell()

    def drain(self, is_draining: bool) -> None:
        self.is_draining = is_draining
        if self.has_begun:
            self.tell()

    def tell(self) -> None:
        station = self._station
        capacity = 0 if self.is_draining else station.settings.max_connections
        hello = HelloPoa(station.name, station.address, self._incarnation, capacity)
        station.tell(names.HELLO_POA, station.name.encode(), hello)
        station.timers.set("hello", station.now + PERIOD)
