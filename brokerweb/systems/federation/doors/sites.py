"""Where hosted clients register: the brokers of a network that runs, and its registration service. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import field as dataclass_field
from hashlib import blake2b

from brokerweb.kit.errors import NotPossible
from brokerweb.networks.snapshot import NetworkSnapshot
from overlay.core.addresses import Address
from overlay.programs.federation.client import by_service
from overlay.systems.federation.clients.terms import Site, Terms
from overlay.systems.federation.names import BDRS, broker_name
from overlay.systems.federation.settings import Settings
from overlay.systems.federation.system import SYSTEM


@dataclass(frozen=True)
class Place:
    """Equal while clients may stay registered as they are."""

    service: Address
    settings: Settings
    terms: Terms = dataclass_field(compare=False)
    """Of all clients."""
    brokers: tuple[tuple[int, Address], ...] = dataclass_field(compare=False)
    """Those that run, by index."""

    def site(self, client: str, broker: int | None) -> Site:
        """Where a client begins: at the broker with this index, if it runs; else clients spread over all."""
        chosen = next((one for one in self.brokers if one[0] == broker), None)
        if chosen is None:
            number = int.from_bytes(blake2b(client.encode(), digest_size=8).digest(), "big")
            chosen = self.brokers[number % len(self.brokers)]
        return Site(broker_name(chosen[0]), chosen[1])


def place_of(snapshot: NetworkSnapshot | None) -> Place:
    """Raises ``NotPossible`` if clients cannot register now."""
    if snapshot is None or not snapshot.is_up:
        why = f": {snapshot.reason}" if snapshot is not None and snapshot.reason else "."
        raise NotPossible(f"This network does not run{why}")
    service = next((address for address, row in snapshot.up.items() if _is_service(row.get("name", ""))), None)
    brokers = tuple((row["index"], address) for address, row in snapshot.up.items() if address != service)
    if service is None or not brokers:
        raise NotPossible("No broker of this network runs now, or its registration service does not.")
    settings = SYSTEM.read_settings(snapshot.settings)
    return Place(service, settings, by_service(service, settings), brokers)


def _is_service(name: str) -> bool:
    return name.partition("-")[0] == BDRS
