"""Brokers in a chain and clients, in one place. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brokerweb.wirelab.channel import village
from brokerweb.wirelab.channel.village import chances_of
from overlay.core.addresses import Address
from overlay.systems.roles import Place
from overlay.systems.silbops.broker.broker import Broker
from overlay.systems.silbops.clients.channel import ChannelWire
from overlay.systems.silbops.clients.client import Client
from overlay.systems.silbops.clients.terms import Site, Terms
from overlay.systems.silbops.config import ServerConfig
from overlay.systems.silbops.names import BROKER, broker_name
from overlay.systems.silbops.peers import Peers
from overlay.systems.silbops.settings import Settings
from overlay.systems.silbops.wire.kinds import OWNER_BYTES


class Village(village.Village):
    def __init__(self, now_ms: int, brokers: int = 2, settings: Mapping[str, Any] | None = None) -> None:
        names = [*map(broker_name, range(brokers))]
        super().__init__(now_ms, names)
        self.settings = Settings(**(settings or {}))
        config = ServerConfig(self.settings, brokers, tuple((at, at + 1) for at in range(brokers - 1)))
        servers: tuple[Address, ...] = tuple(map(self.address, names))
        for at, name in enumerate(names):
            place = Place(f"{BROKER}-{at}", at, servers[at], servers)
            self.nodes[name] = Broker(config, place, chances_of(name), self.wall_offset_ns)

    def client(self, name: str, broker: str) -> Client:
        """It attaches to a broker."""
        id = id_of(name)
        client = Client(Terms.of(self.settings), id, ChannelWire(self.peers_of(id)), self.now)
        self._place(name, client)
        self.attach(name, broker)
        return client

    def attach(self, name: str, broker: str) -> None:
        self.nodes[name].attach(Site(broker, self.address(broker)), self.now)
        self.exchange()

    def peers_of(self, id: bytes) -> Peers:
        return Peers(id, self.settings, chances_of(id.hex()).upkeep, self.wall_offset_ns)


def id_of(name: str) -> bytes:
    """16 bytes that begin with a name."""
    return name.encode().ljust(OWNER_BYTES, b"\0")
