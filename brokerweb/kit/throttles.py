"""Request counters for the throttling in ``brokerweb.middleware``, and the headers that tell clients of them.

Requests are counted over windows of ``REST_WINDOW_S`` with one number in the cache, so the cost is constant; REST
framework's throttles store the time of every request. While the cache is unavailable, no request is refused.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.http import HttpResponse

from brokerweb.kit.cache_breaker import CacheBreaker
from brokerweb.kit.error_body import body


@dataclass(frozen=True, slots=True)
class Budget:
    """What a client may send in the current window."""

    quota: int
    """Requests per window."""
    left: int
    reset_s: float
    """Seconds until the next window."""
    is_exceeded: bool

    @property
    def retry_s(self) -> int:
        """For ``Retry-After``."""
        return math.ceil(self.reset_s)

    def tell(self, response: HttpResponse, policy: str) -> None:
        """Add ``RateLimit-Policy`` and ``RateLimit`` of draft-ietf-httpapi-ratelimit-headers-10, next to those of other
        policies.
        """
        window = settings.REST_WINDOW_S
        _add(response, "RateLimit-Policy", f'"{policy}";q={self.quota};w={window}')
        _add(response, "RateLimit", f'"{policy}";r={self.left};t={self.retry_s}')


def _add(response: HttpResponse, header: str, item: str) -> None:
    response[header] = f"{response[header]}, {item}" if header in response else item


class Windows:
    """Counters of the current window."""

    def __init__(self) -> None:
        self._breaker = CacheBreaker("no request is throttled")

    def count(self, who: str, rate: float, now: float, requests: int = 1) -> Budget | None:
        """Count requests of ``who`` and return the budget of ``rate`` requests per second that they leave; ``None`` if
        there is none: ``rate`` is 0, or the cache is unavailable. ``now`` is in seconds, on the same clock in all
        processes.
        """
        window = settings.REST_WINDOW_S
        number, passed = divmod(now, window)
        if not rate:
            return None
        count = self.add(who, int(number), requests)
        if count is None:
            return None
        quota = int(rate * window)
        return Budget(quota, max(0, quota - count), window - passed, count > quota)

    def add(self, who: str, number: int, requests: int) -> int | None:
        """Count ``requests`` in the window ``number``. Returns all of ``who`` in it; ``None`` without a cache."""
        return self._breaker.call(lambda: self._count(f"throttle:{who}:{number}", requests, 2 * settings.REST_WINDOW_S))

    @staticmethod
    def _count(key: str, requests: int, lifetime_s: int) -> int:
        try:
            return cache.incr(key, requests)
        except ValueError:  # the first request
            return requests if cache.add(key, requests, timeout=lifetime_s) else cache.incr(key, requests)


windows = Windows()


def refusal(who: str, left_s: float) -> tuple[dict[str, Any], int]:
    """The body of status 429 and its ``Retry-After``, in seconds."""
    seconds = math.ceil(left_s)
    sentence = f"Too many requests from this {who.partition(':')[0]}. Try again in {seconds} s."
    return body([("", "throttled", sentence)]), seconds


def host_of(address: str) -> str:
    """The throttling key of ``address``: for IPv6 its /64, which one host may own."""
    try:
        parsed = ip_address(address.partition("%")[0])
    except ValueError:  # peer of a Unix socket
        return address
    if not isinstance(parsed, IPv6Address):
        return str(parsed)
    return str(parsed.ipv4_mapped or IPv6Address(int(parsed) >> 64 << 64))
