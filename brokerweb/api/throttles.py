"""How many requests REST takes of one token, ``REST_RATE``, and, in ``brokerweb.entrance``, from one address.

Counted over windows of ``REST_WINDOW_S``, one number each in the cache, so that a request costs the same however many
came before; REST framework's own throttles keep the time of every request. While the cache is away no request is
refused.
"""

from __future__ import annotations

import time

from django.conf import settings
from django.core.cache import cache
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from brokerweb.accounts.models import Token
from brokerweb.cache_breaker import CacheBreaker


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


class TokenThrottle(BaseThrottle):
    """Of one token, or of one person's browser."""

    def allow_request(self, request: Request, view: object) -> bool:
        if isinstance(request.auth, Token):
            who = f"token:{request.auth.id}"
        elif request.user and request.user.is_authenticated:
            who = f"user:{request.user.pk}"
        else:
            return True
        self._wait_s = windows.wait_s(who, settings.REST_RATE, time.time())
        return self._wait_s is None

    def wait(self) -> float | None:
        return self._wait_s
