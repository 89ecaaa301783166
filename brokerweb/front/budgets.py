"""Requests counted against a limit without waiting for the cache.

Counterpart: ``brokerweb.kit.throttles``, whose counters these are, so that all web processes share them. What was
counted here is added there several times a second, so the limit may be passed by that much.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

from asgiref.sync import sync_to_async
from django.conf import settings
from rest_framework.exceptions import Throttled

from brokerweb.kit.throttles import Budget, refusal, windows

ADDED_AFTER_S = 0.2
POLICY = "context"
"""The name of the budget in headers and counters."""


@dataclass(slots=True)
class _Count:
    window: int
    known: int = 0
    """In the cache, when it was last looked at."""
    here: int = 0
    """Counted here and not yet added there."""


class Budgets:
    """Those of one process."""

    def __init__(self) -> None:
        self._counts: dict[str, _Count] = {}
        self._window = 0
        self._adding: set[asyncio.Task[None]] = set()

    def count(self, who: str, rate: float, now: float, requests: int = 1) -> Budget | None:
        """As ``Windows.count``. ``now`` is Unix seconds."""
        if not rate:
            return None
        length = settings.REST_WINDOW_S
        window = int(now // length)
        if window != self._window:
            self._window, self._counts = window, {}
        count = self._counts.get(who)
        if count is None:
            count = self._counts[who] = _Count(window)
        if not count.here:
            self._add_soon(who, count)
        count.here += requests
        quota, used = int(rate * length), count.known + count.here
        return Budget(quota, max(0, quota - used), length - now % length, used > quota)

    def _add_soon(self, who: str, count: _Count) -> None:
        task = asyncio.get_running_loop().create_task(self._add(who, count))
        self._adding.add(task)
        task.add_done_callback(self._adding.discard)

    @staticmethod
    async def _add(who: str, count: _Count) -> None:
        await asyncio.sleep(ADDED_AFTER_S if count.known else 0)
        requests, count.here = count.here, 0
        count.known += requests
        total = await sync_to_async(windows.add, thread_sensitive=False)(who, count.window, requests)
        if total is not None:
            count.known = max(count.known, total)


def count_in_thread(who: str, operations: int) -> None:
    """The same for requests that Django answers: they count in the cache at once. Raises ``TooManyRequests``."""
    budget = windows.count(f"{who}:{POLICY}", settings.CONTEXT_RATE, time.time(), operations)
    if budget is not None and budget.is_exceeded:
        raise TooManyRequests(who, budget)


def add_in_thread(who: str, operations: int) -> None:
    """Further operations of a request that was counted; one may pass the limit, the next request has to wait."""
    if operations and settings.CONTEXT_RATE:
        windows.add(f"{who}:{POLICY}", int(time.time() // settings.REST_WINDOW_S), operations)


class TooManyRequests(Throttled):
    """A request beyond the budget."""

    def __init__(self, who: str, budget: Budget) -> None:
        refused, seconds = refusal(who, budget.reset_s)
        super().__init__(detail=refused["sentence"])
        self.wait = seconds
