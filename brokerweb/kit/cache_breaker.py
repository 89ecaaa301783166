"""A circuit breaker for the cache: while it is unavailable, callers do not wait for it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import TypeVar

from redis.exceptions import RedisError

log = logging.getLogger(__name__)
T = TypeVar("T")

REST_S = 5.0
"""Seconds from a failure to the next attempt. Each attempt at a frozen cache takes its full timeout."""


class CacheBreaker:
    """Calls the cache unless it failed a moment ago. Shared by all threads of a process without a lock."""

    def __init__(self, without: str, clock: Callable[[], float] = time.monotonic) -> None:
        """``without`` completes the warning: the consequence of an unavailable cache."""
        self._without = without
        self._clock = clock
        self._open_until = float("-inf")

    def call(self, ask: Callable[[], T]) -> T | None:
        """The result of ``ask``; ``None`` if the cache does not respond, or failed less than ``REST_S`` ago."""
        if self._clock() < self._open_until:
            return None
        try:
            return ask()
        except RedisError:
            self._open_until = self._clock() + REST_S
            log.warning("the cache is unavailable: %s", self._without, exc_info=True)
            return None
