"""What brokers do, counted for the service-time model. Counterpart: ``overlay.systems.metering``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from overlay.systems.metering import ServerMeter, messages
from overlay.systems.silbops.names import CANDIDATES, SCOPE_TESTS, UNITS


class BrokerMeter(ServerMeter):
    def __init__(self, broker: Any) -> None:
        super().__init__(lambda: units(broker))
        self._broker = broker

    def charged(self, cost_ns: int) -> None:
        self._broker.core.station.busy.charge(cost_ns)


def units(broker: Any) -> Mapping[str, int]:
    """All of it so far."""
    tables = broker.core.station.tables
    found = messages(broker.peers.counters, UNITS)
    found[CANDIDATES], found[SCOPE_TESTS] = tables.candidates, tables.scope_tests
    return found
