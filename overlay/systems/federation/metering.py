"""What servers do, counted for the service-time model: messages by kind, those in ``names.COSTLY``, and with ContextML.

Counterpart: ``telemetry.systems.federation`` measures costs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from overlay.systems.federation.contextml.encoding import CONTEXTML
from overlay.systems.federation.names import COSTLY, UNITS, WRITTEN, XML_IN, XML_OUT
from overlay.systems.metering import ServerMeter, messages


def server_meter(server: Any) -> ServerMeter:
    """``server`` is a broker or the registration service."""
    return ServerMeter(lambda: units(server.peers.counters, is_contextml=server.peers.codec is CONTEXTML))


def units(counters: Mapping[str, int], *, is_contextml: bool = False) -> dict[str, int]:
    """Of ``Peers.counters``: messages so far by the names in ``UNITS``."""
    found = messages(counters, UNITS)
    if is_contextml:
        found[XML_IN] = sum(counters.get(f"in_{kind}", 0) for kind in COSTLY if kind != "query")
        found[XML_OUT] = sum(counters.get(f"out_{kind}", 0) for kind in WRITTEN)
    return found
