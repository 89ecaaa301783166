"""Which gateways are gone, so that a store reads the messages that they left (contract, section 6)."""

from __future__ import annotations

from typing import Final

from overlay.core.node import SECOND
from overlay.core.timers import Timers
from overlay.systems.contextnet.routing.listed import ListedGateways

GONE_NS: Final = 60 * SECOND
"""How long a gateway must not have been listed."""
US: Final = 1_000
"""Nanoseconds."""


class TakeOver:
    def __init__(self, listed: ListedGateways, timers: Timers) -> None:
        """``timers``: get a deadline for each gateway that is not listed, by its name."""
        self._listed, self._timers = listed, timers
        self.gateways: tuple[str, ...] = ()
        """Whose messages are read. The same object while nothing changes."""

    def relisted(self, wall_offset_ns: int) -> None:
        """There is a new list."""
        missing = self._listed.missing_since
        for gateway, since_us in missing.items():
            if gateway not in self.gateways:
                self._timers.set(gateway, since_us * US - wall_offset_ns + GONE_NS)
        if any(gateway in self._listed for gateway in self.gateways):
            self.gateways = tuple(gateway for gateway in self.gateways if gateway in missing)

    def due(self, gateway: str) -> None:
        if gateway in self._listed.missing_since and gateway not in self.gateways:
            self.gateways = (*self.gateways, gateway)
