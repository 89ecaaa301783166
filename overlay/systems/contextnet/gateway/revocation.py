"""Nodes whose secret is revoked while they are connected: closed, and their messages stored as such (section 13)."""

from __future__ import annotations

from typing import Final

from overlay.core.node import SECOND
from overlay.systems.contextnet.gateway.rounds import Round
from overlay.systems.contextnet.gateway.station import Station
from overlay.systems.contextnet.transport.packets import Close

PERIOD: Final = 5 * SECOND
"""In which every node is looked at once."""


class Revocation:
    def __init__(self, station: Station) -> None:
        self._station = station
        self._round: Round | None = None

    def begin(self) -> None:
        station = self._station
        self._round = Round(list(station.end.members), station.now, PERIOD, self.check)
        station.timers.set("revocations", station.now + PERIOD)
        self.tick()

    def tick(self) -> None:
        if self._round is not None and (at := self._round.run(self._station.now)) is not None:
            self._station.timers.set("revocation", at)

    def is_revoked(self, node: bytes) -> bool:
        secret = self._station.config.secret_of(node)
        return secret is None or secret.is_revoked

    def check(self, node: bytes) -> None:
        """Close its connection, if it has one that it may not have."""
        if node in self._station.end.members and self.is_revoked(node):
            self._station.end.close(node, Close.PROTOCOL, self._station.now)
