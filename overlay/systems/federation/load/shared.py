"""What the clients of one process share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from overlay.core.addresses import Address
from overlay.load.tally import Tally
from overlay.load.windows import Windows
from overlay.systems.federation.clients.terms import Site, Terms
from overlay.systems.federation.load.arrivals import Arrivals, Asked
from overlay.systems.federation.names import BROKER, broker_name
from overlay.systems.federation.settings import Settings
from overlay.systems.federation.wire.values import Data
from overlay.systems.federation.workload import Workload

MICROSECOND = 1_000
"""Nanoseconds."""


@dataclass(slots=True)
class Shared:
    settings: Settings
    workload: Workload
    windows: Windows
    servers: Sequence[Address]
    terms: Terms
    seed: int
    tally: Tally
    asked: Asked
    published: Arrivals
    data: Data
    """Of every notification."""
    _terms_at: dict[int, Terms] = field(default_factory=dict)
    """By broker, those of the clients of its site."""

    def terms_at(self, broker: int) -> Terms:
        """Each broker is a site of its own, with the clients that begin there; mobile ones come to all sites."""
        if broker not in self._terms_at:
            near = dict.fromkeys((broker, *self.settings.mobile_indices))
            self._terms_at[broker] = replace(self.terms, group=tuple(self.servers[index] for index in near))
        return self._terms_at[broker]

    def set_wall_clock(self, offset_ns: int) -> None:
        for terms in (self.terms, *self._terms_at.values()):
            terms.wall_offset_ns = offset_ns

    def site(self, broker: int) -> Site:
        return Site(broker_name(broker), self.servers[broker])

    def us(self, now: int) -> int:
        """Microseconds since the zero of the deployment."""
        return (now - self.windows.zero) // MICROSECOND

    def us_of_wall_ms(self, wall_ms: int) -> int:
        return self.us(self.terms.at_wall_ms(wall_ms))

    def phase(self, at: int) -> str:
        return "measuring" if at >= self.windows.measuring else "warming"


def broker_index(name: str) -> int:
    """-1 if it is no broker's name of a planned network."""
    number = name[1:]
    return int(number) if name[:1] == BROKER[0] and number.isascii() and number.isdigit() else -1
