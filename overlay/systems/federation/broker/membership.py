"""The broker at the registration service: registering, keep-alives, and the tree that it is told."""

from __future__ import annotations

from overlay.core.addresses import Address
from overlay.systems.federation.broker.neighbours import Neighbours
from overlay.systems.federation.broker.station import Station
from overlay.systems.federation.peers import SessionEvent
from overlay.systems.federation.wire import messages as m


class Membership:
    def __init__(self, station: Station, neighbours: Neighbours, service: Address) -> None:
        self._station, self._neighbours, self._service = station, neighbours, service

    def brokers(self, peer: str, message: m.Brokers) -> None:
        raise NotImplementedError

    def accepted(self, peer: str, message: m.Ack) -> None:
        raise NotImplementedError

    def refused(self, peer: str, message: m.Nack) -> None:
        raise NotImplementedError

    def leave(self) -> None:
        raise NotImplementedError

    def ring(self, key: str) -> None:
        """``Clock.SERVICE``."""
        raise NotImplementedError

    def ring_link(self, broker: str) -> None:
        """``Clock.LINK``."""
        raise NotImplementedError

    def session(self, event: SessionEvent) -> None:
        raise NotImplementedError

    def check_invariants(self) -> None:
        raise NotImplementedError
