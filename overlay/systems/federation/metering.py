"""What brokers, the registration service and clients do, counted for the service-time model.

A datagram of the channel carries several messages. Datagrams are counted by their kind in the channel, and messages as
further work: those of the kinds in ``names.COSTLY`` by kind. Counterpart: ``telemetry.systems.federation`` measures
costs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from overlay.channel import wire
from overlay.systems.cores import OTHER, Meter
from overlay.systems.federation.contextml.encoding import CONTEXTML
from overlay.systems.federation.names import COSTLY, IN_OTHER, OUT, UNITS, WRITTEN, XML_IN, XML_OUT

_NAMES = {
    number: name
    for name, number in vars(wire).items()
    if type(number) is int and name in ("DATA", "ACK", "HELLO", "WELCOME", "RESET", "BYE", "PROBE", "PROBED", "LOOSE")
}


class MessageMeter(Meter):
    """Of a client: datagrams only."""

    def _names(self, datagrams: Sequence[bytes]) -> list[str]:
        return [_NAMES.get(data[1], OTHER) if len(data) > 1 else OTHER for data in datagrams]


class ServerMeter(MessageMeter):
    """Also messages."""

    def __init__(self, server: Any) -> None:
        """``server`` is a broker or the registration service."""
        self._server = server
        self._before = dict.fromkeys(UNITS, 0)

    def _units(self) -> Mapping[str, int]:
        peers = self._server.peers
        before, self._before = self._before, units(peers.counters, is_contextml=peers.codec is CONTEXTML)
        grown = {name: now - before[name] for name, now in self._before.items()}
        if min(grown.values()) < 0:  # a broker that had vanished began again
            grown = self._before
        return {name: count for name, count in grown.items() if count}


def units(counters: Mapping[str, int], *, is_contextml: bool = False) -> dict[str, int]:
    """Of ``Peers.counters``: messages so far by the names in ``UNITS``."""
    found = dict.fromkeys(UNITS, 0)
    for name, count in counters.items():
        if name.startswith("in_"):
            found[name if name in found else IN_OTHER] += count
        elif name.startswith("out_") and not name.endswith("_bytes"):
            found[OUT] += count
    if is_contextml:
        found[XML_IN] = sum(counters.get(f"in_{kind}", 0) for kind in COSTLY if kind != "query")
        found[XML_OUT] = sum(counters.get(f"out_{kind}", 0) for kind in WRITTEN)
    return found
