"""A circuit breaker between us and the cache, for what can do without: while it is away, nobody waits for it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import TypeVar

from redis.exceptions import RedisError

log = logging.getLogger(__name__)
T = TypeVar("T")

REST_S = 5.0
"""From a failure to the next try. Each try at a cache that is frozen takes as long as its time-out."""


class CacheBreaker:
    """Calls the cache unless it failed a moment ago; shared by all threads of a process, which need no lock for it."""

    def __init__(self, without: str, clock: Callable[[], float] = time.monotonic) -> None:
        """``without`` completes the warning: what is the case while the cache is away."""
        self._without = without
        self._clock = clock
        self._open_until = float("-inf")

    def call(self, ask: Callable[[], T]) -> T | None:
        """What ``ask`` says; ``None`` where the cache does not answer, or did not less than ``REST_S`` ago."""
        if self._clock() < self._open_until:
            return None
        try:
            return ask()
        except RedisError:
            self._open_until = self._clock() + REST_S
            log.warning("the cache does not answer, so %s", self._without, exc_info=True)
            return None
