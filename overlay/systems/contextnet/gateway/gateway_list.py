"""The list of gateways, as the PoA manager orders it: told to nodes, and the alternatives of a refusal. Hand-overs."""

from __future__ import annotations

from typing import Final

from overlay.core.node import SECOND
from overlay.log.topics import Record
from overlay.systems.contextnet.gateway.rounds import Round
from overlay.systems.contextnet.gateway.station import Station
from overlay.systems.contextnet.records import codec
from overlay.systems.contextnet.records.records import GatewayList, HandOver
from overlay.systems.contextnet.transport import controls
from overlay.systems.contextnet.transport.layouts import MOST_ADDRESSES
from overlay.systems.contextnet.transport.packets import Kind

SPREAD: Final = 5 * SECOND
"""In which all nodes are told a new list."""
_MOST_WEIGHT: Final = 255


class Gateways:
    def __init__(self, station: Station) -> None:
        self._station = station
        self._list = GatewayList(0, ())
        self._told = b""
        """What nodes are told, without its version."""
        self._data = b""
        """The same, complete; empty: there is no list yet."""
        self._round: Round | None = None

    def read(self, record: Record) -> None:
        """Raises ``WireError``."""
        found: GatewayList = codec.read(record.topic, record.value)
        if found.version < self._list.version:
            return
        self._list = found
        entries = _weighted(found)
        told = controls.write_gateway_list(controls.GatewayList(0, entries))
        others = [one.address for one in found.gateways if one.score and one.gateway != self._station.name]
        self._station.end.gate.gateways = tuple(others[:MOST_ADDRESSES])
        if told != self._told:
            self._told = told
            self._data = controls.write_gateway_list(controls.GatewayList(found.version & 0xFFFF_FFFF, entries))
            self._round = Round(self._station.end.present(), self._station.now, SPREAD, self.tell)
            self.tick()

    def tell(self, node: bytes) -> None:
        """One of our nodes, if there is a list."""
        station = self._station
        if self._data and station.end.is_open(node):
            station.end.send(node, Kind.GATEWAY_LIST, self._data, None, station.now)

    def tick(self) -> None:
        if self._round is not None and (at := self._round.run(self._station.now)) is not None:
            self._station.timers.set("list", at)

    def hand_over(self, record: Record) -> None:
        """An order to one of our nodes. Raises ``WireError``."""
        if record.key != self._station.name.encode():
            return
        found: HandOver = codec.read(record.topic, record.value)
        station = self._station
        targets = found.targets[:MOST_ADDRESSES]
        data = controls.write_hand_over(controls.HandOver(found.round & 0xFFFF_FFFF, targets))
        is_sent = station.end.is_open(found.node) and station.end.send(
            found.node, Kind.HAND_OVER, data, None, station.now
        )
        station.counters["handover_sent" if is_sent else "handover_absent"] += 1

    def answers_for(self, holder: str) -> bool:
        """Whether we answer for a node that no gateway has: its last holder does, and if that is not listed the one of
        the lowest id."""
        listed = {one.gateway for one in self._list.gateways}
        if not holder or (holder != self._station.name and holder not in listed):
            holder = min(listed, default=self._station.name)
        return holder == self._station.name


def _weighted(found: GatewayList) -> tuple[controls.Gateway, ...]:
    """Nodes try one without a weight last."""
    best = max((one.score for one in found.gateways), default=0) or 1
    return tuple(
        controls.Gateway(one.address, max(1, round(_MOST_WEIGHT * one.score / best)) if one.score else 0)
        for one in found.gateways[:MOST_ADDRESSES]
    )
