"""Parses and validates a broker index from URLs, forms and REST."""

from __future__ import annotations

from functools import lru_cache

from brokerweb.brokers.names import ServerNames
from brokerweb.networks.models import Network
from overlay.core.errors import InvalidSetting
from overlay.deployment.rollout import REMOVED

DIGITS = 7
"""Exceeds the size of any network."""


def servers_of(network: Network) -> ServerNames:
    """Its servers, also those that are not on its topology."""
    return _servers_of(network.pk, network.epoch, network.version)


@lru_cache(maxsize=256)
def _servers_of(pk: str, epoch: int, version: int) -> ServerNames:
    """Cached, since it takes 70 ms for 10,000 servers, and each request asks; a version never changes."""
    network = Network.objects.only("system", "deployed", "settings", "members").get(pk=pk)
    names = ServerNames.of({"system": network.system, "topology": network.deployed, "settings": network.settings})
    names.removed = frozenset(int(index) for index, state in network.members.items() if state == REMOVED)
    return names


def known(network: Network, index: int, field: str = "broker") -> int:
    """``index``, if the network has such a broker. Raises ``InvalidSetting``."""
    servers = servers_of(network)
    if index in servers.removed:
        raise InvalidSetting(field, f"was removed from this network: {index}")
    return below(len(servers), index, field)


def below(count: int, index: int, field: str = "broker") -> int:
    """The same for a network that has had ``count`` brokers."""
    if not 0 <= index < count:
        raise InvalidSetting(field, f"must be from 0 to {count - 1}, not {index}")
    return index


def read(network: Network, text: str) -> int:
    """The broker index in ``text``. Raises ``InvalidSetting``."""
    return known(network, number(text))


def number(text: str, field: str = "broker") -> int:
    """The number in ``text``. Raises ``InvalidSetting``."""
    if not (text.isascii() and text.isdigit() and len(text) <= DIGITS):
        raise InvalidSetting(field, f"must be the index of a broker, not {text[:40]!r}")
    return int(text)


def chosen(network: Network, text: str) -> int | None:
    """The same; ``None`` (any broker) for empty text."""
    return read(network, text) if text else None
