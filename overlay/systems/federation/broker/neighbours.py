"""The edges of the tree, and both tables over them (seed 001, sections 6 and 7; details, section 2)."""

from __future__ import annotations

from dataclasses import replace

from overlay.systems.federation.broker.station import Station
from overlay.systems.federation.peers import SessionEvent
from overlay.systems.federation.tables.outlets import Change
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire.values import BrokerAdvertisement, Notification, SubscriptionId


class Neighbours:
    def __init__(self, station: Station, own: BrokerAdvertisement) -> None:
        self._station, self.own = station, own

    @property
    def own_without_candidates(self) -> BrokerAdvertisement:
        """For HERE."""
        return replace(self.own, candidates=())

    def __len__(self) -> int:
        """Edges of the current tree."""
        raise NotImplementedError

    def take_tree(self, epoch: int, brokers: dict[str, BrokerAdvertisement], edges: frozenset[str]) -> None:
        """A newer epoch: all brokers that the service named, and the own neighbours in the tree."""
        raise NotImplementedError

    def out_of_turn(self) -> None:
        """A provider, a consumer's first subscription, or a removal: neighbours are told before the next exchange."""
        raise NotImplementedError

    def hello(self, broker: str, message: m.Hello) -> None:
        raise NotImplementedError

    def subscriptions(self, broker: str, message: m.SubTable) -> None:
        raise NotImplementedError

    def registrations(self, broker: str, message: m.RegTable) -> None:
        """Own clients that are registered elsewhere since go into ``Station.superseded``."""
        raise NotImplementedError

    def tables(self, broker: str, message: m.Tables) -> None:
        raise NotImplementedError

    def may_forward(self, broker: str) -> bool:
        """Whether FORWARD is taken from it: over a current edge or an old one. If not, it was counted."""
        raise NotImplementedError

    def forward(
        self,
        broker: str,
        notification: Notification,
        hops: int,
        path: tuple[str, ...],
        ended: tuple[SubscriptionId, ...],
        drop: int,
    ) -> None:
        """Send FORWARD, or store it while a mobile neighbour is away."""
        raise NotImplementedError

    def tell(self, change: Change) -> None:
        """SUBTABLE: what has changed for one neighbour."""
        raise NotImplementedError

    def exchange(self) -> None:
        """After each step: REGTABLE to those to whom it is due."""
        raise NotImplementedError

    def ring_exchange(self, key: str) -> None:
        raise NotImplementedError

    def ring_edge(self, broker: str) -> None:
        raise NotImplementedError

    def session(self, event: SessionEvent) -> None:
        raise NotImplementedError

    def check_invariants(self) -> None:
        raise NotImplementedError
