"""Limits of what strangers may cost a gateway (contract, section 13): token buckets, by host and in all."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import ip_address
from typing import Final

from overlay.core.addresses import Network
from overlay.core.node import SECOND

MOST_HOSTS: Final = 10_000
"""Of which the HELLOs of the last second are known; beyond it, those that came first are forgotten."""


class Rate:
    """So many a second, as many at once (token bucket)."""

    __slots__ = ("_at", "_gap", "_most")

    def __init__(self, per_s: int) -> None:
        self._gap, self._most = SECOND // per_s, SECOND
        self._at = -self._most

    def take(self, now: int) -> bool:
        at = max(self._at, now - self._most)
        if at + self._gap > now:
            return False
        self._at = at + self._gap
        return True


@lru_cache(maxsize=4_096)
def _is_within(host: str, networks: tuple[Network, ...]) -> bool:
    address = ip_address(host)
    return any(address in network for network in networks if network.version == address.version)


@lru_cache(maxsize=4_096)
def _is_private(host: str) -> bool:
    return ip_address(host).is_private


class Admission:
    """Who may connect, by host."""

    def __init__(
        self, hello_per_ip: int, connections_per_ip: int, trusted: tuple[Network, ...], is_private_only: bool
    ) -> None:
        """``trusted``: free of the limits. ``is_private_only``: hosts with public
        addresses may not connect at all."""
        self._hello_per_ip, self._connections_per_ip = hello_per_ip, connections_per_ip
        self._trusted, self._is_private_only = trusted, is_private_only
        self._rates: dict[str, Rate] = {}

    def may_greet(self, host: str, now: int) -> bool:
        """Whether one more HELLO is answered."""
        if _is_within(host, self._trusted):
            return True
        rate = self._rates.get(host)
        if rate is None:
            if len(self._rates) >= MOST_HOSTS:
                del self._rates[next(iter(self._rates))]
            rate = self._rates[host] = Rate(self._hello_per_ip)
        return rate.take(now)

    def may_join(self, host: str, connections: int) -> bool:
        """``connections``: those that this host has."""
        return connections < self._connections_per_ip or _is_within(host, self._trusted)

    def is_allowed(self, host: str) -> bool:
        return not self._is_private_only or _is_private(host)
