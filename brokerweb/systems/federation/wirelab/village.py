"""Brokers in a chain, their registration service and clients, in one place. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brokerweb.wirelab.channel import village
from brokerweb.wirelab.channel.village import chances_of
from overlay.core.chance import Chance
from overlay.systems.federation.bdrs.bdrs import RegistrationService
from overlay.systems.federation.broker.broker import Broker
from overlay.systems.federation.clients.consumer import Consumer
from overlay.systems.federation.clients.provider import Produce, Provider
from overlay.systems.federation.clients.terms import Site, Terms
from overlay.systems.federation.config import ServerConfig
from overlay.systems.federation.names import BDRS, BROKER, SERVICE, broker_name
from overlay.systems.federation.peers import Peers
from overlay.systems.federation.settings import Settings
from overlay.systems.federation.wire.values import Advertisement, Role
from overlay.systems.roles import Place


class Village(village.Village):
    def __init__(self, now_ms: int, brokers: int = 2, settings: Mapping[str, Any] | None = None) -> None:
        names = [*map(broker_name, range(brokers)), SERVICE]
        super().__init__(now_ms, names)
        self.settings = Settings(**(settings or {}))
        links = tuple((at, at + 1, 1_000) for at in range(brokers - 1))
        config = ServerConfig(self.settings, brokers, links)
        servers = tuple(map(self.address, names))
        for at, name in enumerate(names):
            role, number = (BDRS, 0) if name == SERVICE else (BROKER, at)
            place = Place(f"{role}-{number}", at, servers[at], servers)
            make = RegistrationService if name == SERVICE else Broker
            self.nodes[name] = make(config, place, chances_of(name), self.wall_offset_ns)
        self._terms = Terms(self.settings, self.wall_offset_ns, servers[-1], servers[:-1])

    def consumer(self, name: str, broker: str) -> Consumer:
        client = Consumer(self._terms, name, self.site(broker), self.chance(name), self.now)
        return self._start(name, client)

    def provider(self, name: str, broker: str, scopes: tuple[str, ...], produce: Produce | None = None) -> Provider:
        me = Advertisement(name, 0, Role.PROVIDER, "", scopes)
        chance = self.chance(name)
        client = Provider(self._terms, me, self.site(broker), chance, self.now, produce=produce)
        return self._start(name, client)

    def peers_of(self, id: bytes) -> Peers:
        name = id.decode()
        return Peers(name, self.settings, chances_of(name).upkeep, self.wall_offset_ns)

    def site(self, name: str) -> Site:
        return Site(name, self.address(name))

    def chance(self, name: str) -> Chance:
        """Of a client."""
        return chances_of(name).walks
