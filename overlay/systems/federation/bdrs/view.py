"""What the registration service tells its operators, by subject. Counterparts: ``inspection``, ``broker.view``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from overlay.core.node import MILLISECOND
from overlay.peers.answers import Content, page
from overlay.peers.questions import Inspect
from overlay.systems.federation.bdrs.publishing import Publishing
from overlay.systems.federation.bdrs.registry import Registration, Registry
from overlay.systems.federation.peers import Peers
from overlay.systems.federation.subjects import Subject
from overlay.systems.federation.wire.values import BrokerAdvertisement


class View:
    def __init__(self, own: BrokerAdvertisement, peers: Peers, registry: Registry, publishing: Publishing) -> None:
        self._own, self._peers, self._registry, self._publishing = own, peers, registry, publishing

    def contents(self, statistics: Callable[[], Mapping[str, int]]) -> Mapping[Subject, Content]:
        return {
            Subject.FIGURES: lambda message: statistics(),
            Subject.STATE: self._state,
            Subject.TREE: self._tree,
            Subject.BROKERS: self._brokers,
        }

    def _state(self, message: Inspect) -> Mapping[str, Any]:
        return {
            "name": self._own.id,
            "role": "registration service",
            "endpoint": self._own.endpoint,
            "epoch": self._publishing.epoch,
            "brokers": len(self._registry),
        }

    def _tree(self, message: Inspect) -> Mapping[str, Any]:
        edges = self._publishing.epochs.edges
        return {**page(message, edges, len(edges)), "epoch": self._publishing.epoch}

    def _brokers(self, message: Inspect) -> Mapping[str, Any]:
        return page(message, map(self._broker, self._registry.all.values()), len(self._registry))

    def _broker(self, one: Registration) -> Mapping[str, Any]:
        broker = one.advertisement
        return {
            "broker": broker.id,
            "endpoint": broker.endpoint,
            "is_mobile": broker.is_mobile,
            "state": one.state.name.lower(),
            "silent_ms": (self._peers.now - one.last_heard) // MILLISECOND,
            "epoch": one.told,
            "down": [candidate.broker for candidate in broker.candidates if not candidate.is_up],
        }
