"""Connection reports whole again: gateways send them in parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from overlay.systems.contextnet.poa.statistics import Statistics, statistics_of
from overlay.systems.contextnet.records.records import ConnectionReport


class Report(NamedTuple):
    """A whole report."""

    gateway: str
    at: int
    """Unix µs."""
    window_ms: int
    epochs: Mapping[bytes, int]
    """Of the nodes that are open."""
    rtts_us: Mapping[bytes, int]
    """Of the nodes whose pong was in time."""
    statistics: Statistics


class Reports:
    """The parts of one report per gateway. A part of another report, or out of order, ends the one that was under way:
    parts of one gateway come in order, so what is missing will not come."""

    def __init__(self) -> None:
        self._parts: dict[str, list[ConnectionReport]] = {}
        self.incomplete = 0
        """Parts given up."""

    def add(self, part: ConnectionReport) -> Report | None:
        """The report, if this part makes it whole."""
        parts = self._parts.pop(part.gateway, [])
        if (parts and (parts[0].seq, parts[0].parts) != (part.seq, part.parts)) or len(parts) != part.part:
            self.incomplete += len(parts)
            parts = []
        if len(parts) != part.part:
            self.incomplete += 1
            return None
        parts.append(part)
        if len(parts) == part.parts:
            return _whole(parts)
        self._parts[part.gateway] = parts
        return None

    def forget(self, gateway: str) -> None:
        self._parts.pop(gateway, None)


def _whole(parts: list[ConnectionReport]) -> Report:
    """Each part says how many nodes were pinged in the whole round. A pong after the window does not count."""
    first = parts[0]
    most = first.window_ms * 1_000
    rtts = {pong.node: pong.rtt_us for part in parts for pong in part.pongs if pong.rtt_us <= most}
    epochs = {held.node: held.epoch for part in parts for held in part.nodes}
    return Report(first.gateway, first.at, first.window_ms, epochs, rtts, statistics_of(first.pinged, rtts.values()))
