"""Which gateway has which node: what a sender knows before it sends (contract, section 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from overlay.log.node import Assignment, Start, Subscription
from overlay.log.ready import Ready
from overlay.log.topics import Record
from overlay.systems.contextnet.records import codec
from overlay.systems.contextnet.records.names import GATEWAY_LIST, OUTBOUND, PRESENCE, UNSENT, gateway_topic
from overlay.systems.contextnet.records.records import GatewayList, Presence
from overlay.systems.contextnet.routing.listed import ListedGateways
from overlay.systems.contextnet.routing.settings import EVERYONE


class Route(NamedTuple):
    topic: str
    """Of a gateway, ``outbound``, or ``unsent``: the node is nowhere."""
    epoch: int
    """The newest known of the node; 0: none."""

    @property
    def is_absent(self) -> bool:
        return self.topic == UNSENT


def is_newer(found: Presence, known: Presence | None) -> bool:
    """The higher epoch wins; of one epoch, that the node is gone."""
    if known is None or found.epoch != known.epoch:
        return known is None or found.epoch > known.epoch
    return known.connected and not found.connected


class Routed(Protocol):
    """The setting of a network that its readers have to know."""

    @property
    def routing(self) -> str: ...


class Directory:
    """Part of a ``LogUser``, which passes on what is assigned and read of the topics of ``subscriptions``."""

    def __init__(self, settings: Routed, reader: str) -> None:
        """``reader``: the name of a group that no other reader is in."""
        self.is_everyone = settings.routing == EVERYONE
        self.topics = () if self.is_everyone else (PRESENCE, GATEWAY_LIST)
        self.subscriptions = tuple(Subscription(topic, reader, Start.WHOLE) for topic in self.topics)
        self.gateways = ListedGateways()
        self._ready = Ready(self.topics)
        self._nodes: dict[bytes, Presence] = {}

    @property
    def is_ready(self) -> bool:
        """Whether it knows all that was known when it began, and at least one list of gateways."""
        return self._ready.is_ready and (self.is_everyone or self.gateways.is_known)

    def assigned(self, partitions: Sequence[Assignment]) -> None:
        self._ready.assigned(partitions)

    def revoked(self, partitions: Sequence[Assignment]) -> None:
        self._ready.revoked(partitions)

    def read(self, record: Record) -> None:
        """Raises ``WireError``. A topic of others changes nothing."""
        try:
            if record.topic in (PRESENCE, GATEWAY_LIST):
                self._learn(record, codec.read(record.topic, record.value))
        finally:
            self._ready.read(record)

    def _learn(self, record: Record, found: Presence | GatewayList) -> None:
        if isinstance(found, GatewayList):
            self.gateways.heard(found, record.appended_us)
        elif is_newer(found, self._nodes.get(found.node)):
            self._nodes[found.node] = found

    @property
    def nodes(self) -> Mapping[bytes, Presence]:
        """The newest known of each node that was ever connected."""
        return self._nodes

    def where(self, node: bytes) -> Presence | None:
        """The newest known of a node."""
        return self._nodes.get(node)

    def route(self, node: bytes) -> Route:
        if self.is_everyone:
            return Route(OUTBOUND, 0)
        found = self._nodes.get(node)
        if found is None:
            return Route(UNSENT, 0)
        is_there = found.connected and found.gateway in self.gateways
        return Route(gateway_topic(found.gateway) if is_there else UNSENT, found.epoch)
