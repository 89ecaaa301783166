"""The broker's own clients: registration and keep-alives (seed 001, section 8), and what is held for them."""

from __future__ import annotations

from overlay.systems.federation.broker.neighbours import Neighbours
from overlay.systems.federation.broker.station import Station
from overlay.systems.federation.peers import SessionEvent
from overlay.systems.federation.tables.outlets import Change
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire.values import Notification, SubscriptionId


class Clients:
    def __init__(self, station: Station, neighbours: Neighbours) -> None:
        self._station, self._neighbours = station, neighbours

    def __len__(self) -> int:
        raise NotImplementedError

    def register(self, name: str, message: m.Register) -> None:
        raise NotImplementedError

    def keep_alive(self, name: str, message: m.KeepAlive) -> None:
        raise NotImplementedError

    def unregister(self, name: str, message: m.Unregister) -> None:
        raise NotImplementedError

    def serves(self, name: str, message: m.Message) -> bool:
        """Whether the client's other messages are served now. If not, it was refused."""
        raise NotImplementedError

    def notify(
        self, name: str, notification: Notification, satisfied: tuple[SubscriptionId, ...], is_cached: bool, hops: int
    ) -> None:
        """At once, or once the client is valid again."""
        raise NotImplementedError

    def tell(self, change: Change) -> None:
        """OFFER to a provider; held while it is invalid."""
        raise NotImplementedError

    def ring(self, name: str) -> None:
        """``Clock.CLIENT``."""
        raise NotImplementedError

    def session(self, event: SessionEvent) -> None:
        """A client is left to its own timers."""
        raise NotImplementedError

    def check_invariants(self) -> None:
        raise NotImplementedError
