"""Where hosted clients attach: the brokers of a network that runs. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from hashlib import blake2b

from brokerweb.kit.errors import NotPossible
from brokerweb.networks.snapshot import NetworkSnapshot
from overlay.core.addresses import Address
from overlay.systems.silbops.clients.terms import Site
from overlay.systems.silbops.names import broker_name
from overlay.systems.silbops.settings import Settings
from overlay.systems.silbops.system import SYSTEM


@dataclass(frozen=True)
class Place:
    """Equal while clients may go on; brokers may come and go."""

    settings: Settings
    brokers: Mapping[int, Address] = dataclass_field(compare=False)
    """Those that run, by index."""

    def site(self, client: str, broker: int | None, now_at: Site | None = None) -> Site:
        """The broker with this index, if it runs; else the one where it is, if that runs; else clients spread."""
        if broker is not None and broker in self.brokers:
            return self._site(broker)
        if now_at is not None and now_at in map(self._site, self.brokers):
            return now_at
        number = int.from_bytes(blake2b(client.encode(), digest_size=8).digest(), "big")
        return self._site(sorted(self.brokers)[number % len(self.brokers)])

    def _site(self, index: int) -> Site:
        return Site(broker_name(index), self.brokers[index])


def place_of(snapshot: NetworkSnapshot | None) -> Place:
    """Raises ``NotPossible`` if clients cannot attach now."""
    if snapshot is None or not snapshot.is_up:
        why = f": {snapshot.reason}" if snapshot is not None and snapshot.reason else "."
        raise NotPossible(f"This network does not run{why}")
    brokers = {row["index"]: address for address, row in snapshot.up.items()}
    if not brokers:
        raise NotPossible("No broker of this network runs now.")
    return Place(SYSTEM.read_settings(snapshot.settings), brokers)
