"""The servers through which clients enter a network: for lists of addresses and announcements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from brokerweb.networks.models import Network
from overlay.systems.registry import SYSTEMS


def entrances(network: Network) -> Sequence[Mapping[str, Any]]:
    """Their rows of ``Network.brokers``."""
    system = SYSTEMS.get(network.system)
    return [row for row in network.brokers if system is None or system.is_entrance(row.get("name") or "")]
