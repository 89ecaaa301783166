"""Where nodes are: what we say of ours, and what others say. The higher epoch wins; of one epoch, that it is gone."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from overlay.log.topics import Record
from overlay.systems.contextnet.gateway.events import NodeConnected, NodeDisconnected
from overlay.systems.contextnet.gateway.station import Station
from overlay.systems.contextnet.records import codec, names
from overlay.systems.contextnet.records.records import Presence
from overlay.systems.contextnet.transport.events import Ended, Ending, Opened

_ELSEWHERE = (Ending.MOVED, Ending.SUPERSEDED)
"""The node is known to be at another gateway: what we would say is older, and would hide the truth in a topic that
keeps one record of each node."""


class _Holder(NamedTuple):
    """The gateway that last held a node."""

    epoch: int
    gateway: str
    since_us: int
    """When the log had its first word of it (Unix µs)."""


class PresenceOfNodes:
    def __init__(self, station: Station, answers_for: Callable[[str], bool]) -> None:
        """``answers_for``: whether we answer for nodes of that gateway; empty: of none."""
        self._station, self._answers_for = station, answers_for
        self._stale: dict[bytes, int] | None = {}
        """Nodes and epochs that an earlier life of this gateway had, while the topic is read for the first time."""
        self._holders: dict[bytes, _Holder] = {}
        """Of each node, with ``is_everyone``."""

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
        if station.config.is_everyone:
            self._hold(found, record.appended_us)
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

    def is_ours(self, node: bytes, appended_us: int) -> bool:
        """Whether we answer for a record for a node that is not here, where every gateway reads all records.

        The gateway that holds the node may have passed over a record from before it did, and the one that did then may
        be behind, or have forgotten. So all that read it now answer for it; what comes twice, the node drops.
        """
        holder = self._holders.get(node)
        if holder is None:
            return self._answers_for("")
        return appended_us < holder.since_us or self._answers_for(holder.gateway)

    def _hold(self, found: Presence, appended_us: int) -> None:
        known = self._holders.get(found.node)
        if known is None or known.epoch <= found.epoch:
            since_us = known.since_us if known is not None and known.gateway == found.gateway else appended_us
            self._holders[found.node] = _Holder(found.epoch, found.gateway, since_us)

    def _say(self, node: bytes, epoch: int, connected: bool) -> None:
        self._station.tell(names.PRESENCE, node, Presence(node, self._station.name, epoch, connected))
