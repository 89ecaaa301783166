"""How often something was asked of late: what ``brokerweb.entrance`` throttles by.

Counted over windows of ``REST_WINDOW_S``, one number each in the cache, so that a request costs the same however many
came before; REST framework's own throttles keep the time of every request. While the cache is away no request is
refused.
"""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address

from django.conf import settings
from django.core.cache import cache

from brokerweb.kit.cache_breaker import CacheBreaker


class Windows:
    """How often each key was counted in the present window."""

    def __init__(self) -> None:
        self._breaker = CacheBreaker("no request is throttled")

    def wait_s(self, who: str, rate: float, now: float) -> float | None:
        """Counts one request of ``who``; ``None`` if it is within ``rate`` requests a second (0: any number), else the
        seconds after which the next one is. ``now`` is in seconds, the same clock for all processes.
        """
        window = settings.REST_WINDOW_S
        number, passed = divmod(now, window)
        if not rate:
            return None
        count = self._breaker.call(lambda: self._count(f"throttle:{who}:{number:.0f}", 2 * window))
        return None if count is None or count <= rate * window else window - passed

    @staticmethod
    def _count(key: str, lifetime_s: int) -> int:
        try:
            return cache.incr(key)
        except ValueError:  # the first one
            return 1 if cache.add(key, 1, timeout=lifetime_s) else cache.incr(key)


windows = Windows()


def host_of(address: str) -> str:
    """Who is throttled under ``address``: of IPv6 its /64, all of which one host has."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:  # a Unix socket's peer
        return address
    if not isinstance(parsed, IPv6Address):
        return str(parsed)
    return str(parsed.ipv4_mapped or IPv6Address(int(parsed) >> 64 << 64))
