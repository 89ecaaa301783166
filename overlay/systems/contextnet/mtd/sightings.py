"""Where nodes were seen: by reports of connections, and by presence (contract, section 6)."""

from __future__ import annotations

from dataclasses import dataclass

from overlay.systems.contextnet.records.records import Held, Presence


@dataclass(slots=True)
class Sighting:
    gateway: str
    epoch: int
    is_connected: bool
    listed_us: int = 0
    """When the newest report that lists it was made, Unix µs; 0: none has."""


class Sightings:
    """The higher epoch wins. A connection that has ended does not come back: the next one has a higher epoch."""

    def __init__(self) -> None:
        self._nodes: dict[bytes, Sighting] = {}

    def get(self, node: bytes) -> Sighting | None:
        return self._nodes.get(node)

    def presence(self, found: Presence) -> None:
        known = self._nodes.get(found.node)
        if known is None or found.epoch > known.epoch:
            self._nodes[found.node] = Sighting(found.gateway, found.epoch, found.connected)
        elif found.epoch == known.epoch and not found.connected:
            known.is_connected = False

    def report(self, gateway: str, held: Held, at_us: int) -> None:
        known = self._nodes.get(held.node)
        if known is None or held.epoch > known.epoch:
            self._nodes[held.node] = Sighting(gateway, held.epoch, is_connected=True, listed_us=at_us)
        elif held.epoch == known.epoch and gateway == known.gateway:
            known.listed_us = max(known.listed_us, at_us)

    def reachable(self, node: bytes, epoch: int, stored_us: int) -> Sighting | None:
        """Where a message can go that a connection with this epoch did not deliver: to a later connection, or to the
        same one if a report that was made after it was stored shows that connection still."""
        found = self._nodes.get(node)
        if found is None or not found.is_connected:
            return None
        is_later = found.epoch > epoch or (found.epoch == epoch and found.listed_us > stored_us)
        return found if is_later else None
