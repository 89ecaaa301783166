"""Subscriptions of clients, and notifications: SUBSCRIBE, PUBLISH, FORWARD, NOTIFY."""

from __future__ import annotations

from overlay.systems.federation.broker.clients import Clients
from overlay.systems.federation.broker.neighbours import Neighbours
from overlay.systems.federation.broker.station import Station
from overlay.systems.federation.wire import messages as m


class Notifying:
    def __init__(self, station: Station, clients: Clients, neighbours: Neighbours) -> None:
        self._station, self._clients, self._neighbours = station, clients, neighbours

    def subscribe(self, name: str, message: m.Subscribe) -> None:
        raise NotImplementedError

    def publish(self, name: str, message: m.Publish) -> None:
        raise NotImplementedError

    def forward(self, broker: str, message: m.Forward) -> None:
        raise NotImplementedError

    def check_invariants(self) -> None:
        raise NotImplementedError
