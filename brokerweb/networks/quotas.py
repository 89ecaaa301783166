"""How many networks an account may have, and how many brokers a host may run for networks."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from django.conf import settings
from django.contrib.auth.models import User

from brokerweb.networks import broker_index
from brokerweb.networks.models import Desired, Network
from overlay.core.errors import InvalidSetting


class Quota(NamedTuple):
    """What is in use, and the most that may be."""

    used: int
    most: int


def networks_of(owner: User) -> Quota:
    """The networks of an account, running or not."""
    return Quota(Network.objects.filter(owner=owner).count(), settings.MAX_NETWORKS)


def brokers_of(host: str) -> Quota:
    """The servers of networks that run, or are to run, on a host; of an empty name, on all together."""
    by_host = running_by_host()
    used = by_host[host] + by_host[""] if host else sum(by_host.values())
    return Quota(used, settings.MAX_HOST_BROKERS)


def running_by_host() -> Counter[str]:
    """The servers of networks that run, or are to run, by host; under an empty name those that may run on any."""
    found: Counter[str] = Counter()
    for network in Network.objects.filter(desired=Desired.RUNNING):
        found[network.host] += running_brokers(network)
    return found


def check_networks(owner: User | None) -> None:
    """Raises ``InvalidSetting`` if the account has as many networks as it may."""
    if owner is None:
        return
    has, most = networks_of(owner)
    if has >= most:
        raise InvalidSetting(
            "name", f"{owner.username} has {has} networks, and an account may have {most}; delete one first"
        )


def check_brokers(host: str, more: int, field: str) -> None:
    """Raises ``InvalidSetting`` if ``more`` brokers are too many for a host; an empty one stands for any."""
    if more <= 0:
        return
    has, most = brokers_of(host)
    if has + more > most:
        where = f"host {host}" if host else "this host"
        sentence = f"the networks of {where} have {has:,} brokers; with {more:,} more it would exceed its {most:,}"
        raise InvalidSetting(field, sentence)


def running_brokers(network: Network) -> int:
    """The servers of a network that should run."""
    return len(broker_index.servers_of(network)) - len(network.members)
