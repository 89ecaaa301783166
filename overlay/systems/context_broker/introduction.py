"""Starts an overlay at once: brokers with their neighbours, without a controller's orders. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from overlay.core.addresses import Address, format_address
from overlay.core.node import SECOND
from overlay.systems.context_broker.broker.broker import Broker

STRUCTURED = "structured"
SETTLING = 15 * SECOND
"""Until the structured arm has filled its tables: three refreshes. After one, 1 key in 60 is misplaced."""


def introduce(broker: Broker, neighbours: Iterable[Address], now: int) -> None:
    """Add neighbours, as if each had joined."""
    for neighbour in neighbours:
        broker.receive_datagram(f"8|1|{format_address(broker.address)}|*".encode(), neighbour, now)
    broker.datagrams_to_send()  # discard acknowledgements
