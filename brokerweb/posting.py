"""What is said to Redis is said from a thread of its own, so that nobody waits for it who has other things to do.

A Redis that hangs takes every question and answers none, and each costs as long as its time-out: a worker that waited
would lose the leases of its runs, and a page would stand still. What is said is also in a row, for the reconciler to
find; so what cannot be said is lost without harm.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Hashable
from datetime import datetime, timedelta
from typing import Any

from celery import Task
from django.conf import settings
from django.utils import timezone

log = logging.getLogger(__name__)

LEFT = timedelta(seconds=2)
"""So long the reconciler leaves to a task what it was asked for; then it does it itself."""
MOST = 256
"""Things waiting to be said; what comes on top of them is not."""


class _Speaker:
    """Says one thing after the other. A newer word on the same thing takes the place of one that still waits."""

    def __init__(self) -> None:
        self._waiting: dict[Hashable, Callable[[], Any]] = {}
        self._came = threading.Condition()
        self._thread: threading.Thread | None = None

    def put(self, key: Hashable, say: Callable[[], Any]) -> None:
        with self._came:
            if len(self._waiting) >= MOST and key not in self._waiting:
                log.warning("%s is left to the reconciler: Redis has not taken %d others", key, MOST)
                return
            self._waiting[key] = say
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="posting", daemon=True)
                self._thread.start()
            self._came.notify()

    def _run(self) -> None:
        while True:
            with self._came:
                self._came.wait_for(lambda: self._waiting)
                key = next(iter(self._waiting))
                say = self._waiting.pop(key)
            _try(key, say)


_speaker = _Speaker()


def aside(key: Hashable, say: Callable[[], Any]) -> None:
    """Calls ``say`` soon, in another thread; at once where there is no Redis that could keep one waiting."""
    if settings.REDIS_URL:
        _speaker.put(key, say)
    else:
        _try(key, say)


def post(task: Task, *args: Any, **options: Any) -> None:
    """Queues a task. ``options`` are those of ``apply_async``."""
    aside((task.name, *args), lambda: task.apply_async(args=args, **options))


def is_left_to_task(asked_at: datetime | None) -> bool:
    """Whether a task that was asked for then may still do it."""
    return bool(settings.REDIS_URL) and asked_at is not None and timezone.now() - asked_at < LEFT


def _try(key: Hashable, say: Callable[[], Any]) -> None:
    try:
        say()
    except Exception as error:  # noqa: BLE001  each Redis client has its own classes for "it is away"
        log.warning("%s is left to the reconciler: %s", key, error)
