"""The servers of a network, asked one by one, for pages and REST."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from brokerweb.kit.errors import NotAnswered, NotPossible
from brokerweb.networks.models import UP, Network
from overlay.core.addresses import parse_address
from overlay.core.processes import role_of
from overlay.programs.federation.inspection import Inspector, NotInspected
from overlay.programs.questions import NoAnswer
from overlay.systems.federation.names import BDRS

DEADLINE_S = 0.5
"""For a server that is gone; on this host, one that is busy needs some tens of milliseconds."""


def name_of(index: int) -> str:
    """The name of a broker in messages, for its index."""
    return f"b{index}"


def index_of(name: str) -> int | None:
    """The reverse; ``None`` for other names."""
    return int(name[1:]) if name[:1] == "b" and name[1:].isdecimal() else None


def addresses(network: Network) -> dict[int, str]:
    """Of all servers that run, by index."""
    if network.state not in UP:
        return {}
    return {row["index"]: row["address"] for row in network.brokers if row["state"] == "up" and row.get("address")}


def brokers(network: Network) -> dict[int, str]:
    """The same, without the registration service."""
    service = service_index(network)
    return {index: address for index, address in addresses(network).items() if index != service}


def service_index(network: Network) -> int | None:
    """The index of the registration service."""
    return next((row["index"] for row in network.brokers if role_of(row.get("name") or "") == BDRS), None)


@contextmanager
def asked(network: Network, index: int) -> Iterator[Inspector]:
    """Raises ``NotAnswered``; ``NotPossible`` if the server does not run, or answers only programs elsewhere."""
    address = addresses(network).get(index)
    if address is None:
        raise NotPossible(f"Server {index} of this network does not run.")
    with asked_at(address) as server:
        yield server


@contextmanager
def asked_at(address: str) -> Iterator[Inspector]:
    try:
        with Inspector(parse_address(address), DEADLINE_S) as server:
            yield server
    except NoAnswer as error:
        raise NotAnswered(str(error)) from None
    except NotInspected as error:
        raise NotPossible(str(error)) from None
