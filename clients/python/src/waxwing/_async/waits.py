"""Asks until something has happened."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from waxwing.errors import NotInTime
from waxwing.waiting import T, Watcher, pause_s


async def until(
    look: Callable[[], Awaitable[T]],
    is_so: Callable[[T], bool],
    timeout_s: float | None,
    progress: Watcher[T] | None,
) -> T:
    """What was seen when it was so. Raises ``NotInTime``, and what ``look`` raises."""
    began, looks = time.monotonic(), 0
    while True:
        seen = await look()
        if progress is not None:
            progress(seen)
        if is_so(seen):
            return seen
        pause = pause_s(looks)
        if timeout_s is not None and time.monotonic() + pause - began > timeout_s:
            raise NotInTime(f"not within {timeout_s:g} s")
        await asyncio.sleep(pause)
        looks += 1
