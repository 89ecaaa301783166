"""What brokers do, counted for the service-time model. Counterpart: ``overlay.systems.metering``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from overlay.systems.metering import ServerMeter, messages
from overlay.systems.silbops.names import CANDIDATES, SCOPE_TESTS, UNITS


def broker_meter(broker: Any) -> ServerMeter:
    return ServerMeter(lambda: units(broker))


def units(broker: Any) -> Mapping[str, int]:
    """All of it so far."""
    tables = broker.core.station.tables
    found = messages(broker.peers.counters, UNITS)
    found[CANDIDATES], found[SCOPE_TESTS] = tables.candidates, tables.scope_tests
    return found
