"""How a gateway leaves: it takes no more nodes, closes its connections at a limited rate, and stores what is left."""

from __future__ import annotations

from typing import Final

from overlay.core.node import SECOND
from overlay.systems.contextnet.gateway.gateway_list import Gateways
from overlay.systems.contextnet.gateway.rounds import Round
from overlay.systems.contextnet.gateway.station import Station
from overlay.systems.contextnet.transport.packets import Close

STORING: Final = SECOND
"""For the records of the last connections to become durable."""


class Leaving:
    def __init__(self, station: Station, gateways: Gateways) -> None:
        self._station, self._gateways = station, gateways
        self._round: Round | None = None

    def begin(self) -> int:
        """Returns how long it takes (ns)."""
        station = self._station
        nodes = list(station.end.members)
        span = len(nodes) * SECOND // station.settings.evict_per_s
        station.end.gate.is_leaving = True
        self._round = Round(nodes, station.now, span, self._close)
        self.tick()
        return span + STORING if nodes else 0

    def tick(self) -> None:
        if self._round is not None and (at := self._round.run(self._station.now)) is not None:
            self._station.timers.set("leave", at)

    def _close(self, node: bytes) -> None:
        self._gateways.tell(node)
        self._station.end.close(node, Close.SHUTTING_DOWN, self._station.now)
