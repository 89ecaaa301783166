"""How many requests REST takes of one token, ``REST_RATE``; in ``brokerweb.entrance``, of strangers at one address, and
in ``brokerweb.accounts.lockout`` how many failed log-ins.

Counted over windows, one number each in the cache, so that a request costs the same however many came before; REST
framework's own throttles keep the time of every request. While the cache is away no request is refused.
"""

from __future__ import annotations

import math
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

    def wait_s(self, who: str, most: float, window_s: float, now: float) -> float | None:
        """Counts one more of ``who``; ``None`` if it is among the ``most`` of this window (0: any number), else the
        seconds after which the next window begins. ``now`` is in seconds, the same clock for all processes.
        """
        if not most:
            return None
        key, left_s = _window(who, window_s, now)
        count = self._breaker.call(lambda: self._count(key, math.ceil(2 * window_s)))
        return None if count is None or count <= most else left_s

    def full_s(self, who: str, most: float, window_s: float, now: float) -> float | None:
        """``wait_s`` of the next one, without counting it."""
        if not most:
            return None
        key, left_s = _window(who, window_s, now)
        count = self._breaker.call(lambda: cache.get(key, 0))
        return None if count is None or count < most else left_s

    @staticmethod
    def _count(key: str, lifetime_s: int) -> int:
        try:
            return cache.incr(key)
        except ValueError:  # the first one
            return 1 if cache.add(key, 1, timeout=lifetime_s) else cache.incr(key)


def _window(who: str, window_s: float, now: float) -> tuple[str, float]:
    """The key of the window that ``now`` is in, and the seconds that are left of it."""
    number, passed = divmod(now, window_s)
    return f"throttle:{who}:{number:.0f}", window_s - passed


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
        self._wait_s = windows.wait_s(
            who, settings.REST_RATE * settings.REST_WINDOW_S, settings.REST_WINDOW_S, time.time()
        )
        return self._wait_s is None

    def wait(self) -> float | None:
        return self._wait_s
