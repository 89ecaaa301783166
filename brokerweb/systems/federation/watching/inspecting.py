"""The servers of a network, asked one by one, for pages and REST."""

from __future__ import annotations

from contextlib import AbstractContextManager

from brokerweb.networks import inspecting
from brokerweb.networks.inspecting import addresses
from brokerweb.networks.models import Network
from overlay.core.processes import role_of
from overlay.programs.federation.inspection import Inspector
from overlay.systems.federation.names import BDRS


def name_of(index: int) -> str:
    """The name of a broker in messages, for its index."""
    return f"b{index}"


def index_of(name: str) -> int | None:
    """The reverse; ``None`` for other names."""
    return int(name[1:]) if name[:1] == "b" and name[1:].isdecimal() else None


def brokers(network: Network) -> dict[int, str]:
    """The same, without the registration service."""
    service = service_index(network)
    return {index: address for index, address in addresses(network).items() if index != service}


def service_index(network: Network) -> int | None:
    """The index of the registration service."""
    return next((row["index"] for row in network.brokers if role_of(row.get("name") or "") == BDRS), None)


def asked(network: Network, index: int) -> AbstractContextManager[Inspector]:
    """As ``inspecting.asked``."""
    return inspecting.asked(Inspector, network, index)


def asked_at(address: str) -> AbstractContextManager[Inspector]:
    return inspecting.asked_at(Inspector, address)
