"""Starts an overlay at once: brokers with their neighbours, without a controller's orders. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from overlay.core.addresses import Address, format_address
from overlay.core.node import SECOND
from overlay.systems.context_broker.broker.broker import Broker

if TYPE_CHECKING:
    from overlay.systems.context_broker.system import Settings

STRUCTURED = "structured"
SETTLING = 15 * SECOND
"""Until the structured arm has filled its tables: three refreshes. After one, 1 key in 60 is misplaced."""


class Introduction:
    """Implements ``overlay.systems.contract.Introduction``."""

    def __init__(self, settings: Settings) -> None:
        self._is_monitoring = settings.monitoring
        self.settling_ns = SETTLING if settings.broker.arm == STRUCTURED else 0

    def introduce(self, broker: Broker, neighbours: Iterable[Address], controller: Address, now: int) -> None:
        introduce(broker, neighbours, now)
        if self._is_monitoring:
            broker.receive_datagram(b"0|1", controller, now)
            broker.datagrams_to_send()  # discard an acknowledgement
        broker.events()


def introduce(broker: Broker, neighbours: Iterable[Address], now: int) -> None:
    """Add neighbours, as if each had joined."""
    for neighbour in neighbours:
        broker.receive_datagram(f"8|1|{format_address(broker.address)}|*".encode(), neighbour, now)
    broker.datagrams_to_send()  # discard acknowledgements
