"""Where nodes are: what we say of ours, and what others say. The higher epoch wins; of one epoch, that it is gone."""

from __future__ import annotations

from overlay.log.topics import Record
from overlay.systems.contextnet.gateway.events import NodeConnected, NodeDisconnected
from overlay.systems.contextnet.gateway.station import Station
from overlay.systems.contextnet.records import codec, names
from overlay.systems.contextnet.records.records import Presence
from overlay.systems.contextnet.transport.events import Ended, Ending, Opened

_ELSEWHERE = (Ending.MOVED, Ending.SUPERSEDED)
"""The node is known to be at another gateway: what we would say is older, and would hide the truth in a topic that
keeps one record of each node."""


class PresenceOfNodes:
    def __init__(self, station: Station) -> None:
        self._station = station
        self._stale: dict[bytes, int] | None = {}
        """Nodes and epochs that an earlier life of this gateway had, while the topic is read for the first time."""
        self._holders: dict[bytes, tuple[int, str]] = {}
        """With ``is_everyone``: epoch and gateway that last held a node."""

    def opened(self, event: Opened) -> None:
        station = self._station
        station.noted.append(NodeConnected(event.node.hex(), event.epoch, event.resumed, at=station.now))
        self._say(event.node, event.epoch, True)

    def ended(self, event: Ended, undelivered: int) -> None:
        station, reason = self._station, event.reason
        station.noted.append(NodeDisconnected(event.node.hex(), event.epoch, reason, undelivered, at=station.now))
        if reason not in _ELSEWHERE:
            self._say(event.node, event.epoch, False)

    def read(self, record: Record) -> None:
        """Raises ``WireError``."""
        found: Presence = codec.read(record.topic, record.value)
        station, node, epoch = self._station, found.node, found.epoch
        if station.config.is_everyone and self._holders.get(node, (-1, ""))[0] <= epoch:
            self._holders[node] = epoch, found.gateway
        if self._stale is not None:
            if found.gateway == station.name and found.connected:
                self._stale[node] = epoch
            elif self._stale.get(node, epoch + 1) <= epoch:
                del self._stale[node]
        station.end.learn_epoch(node, epoch, station.now)
        member = station.end.members.get(node)
        if member is not None and member.is_told and epoch < member.epoch and found.gateway != station.name:
            # It may have been written after ours, and would be the one that is kept.
            self._say(node, member.epoch, True)

    def caught_up(self) -> None:
        """All that was there has been read: nodes of an earlier life that are not here are gone."""
        stale, self._stale = self._stale, None
        for node, epoch in (stale or {}).items():
            if node not in self._station.end.members:
                self._say(node, epoch, False)

    def holder(self, node: bytes) -> str:
        """The gateway that last held it; empty if none did."""
        return self._holders.get(node, (0, ""))[1]

    def _say(self, node: bytes, epoch: int, connected: bool) -> None:
        self._station.tell(names.PRESENCE, node, Presence(node, self._station.name, epoch, connected))
