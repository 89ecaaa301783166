"""The transactional outbox: work is a row first, and its task is queued until the row says that it has started.

A lost queue therefore loses nothing; the reconciler finds the work in the rows. Tasks are queued by name, so callers do
not import them.

A separate thread talks to Redis. A hanging Redis accepts every request and answers none, each at the cost of a timeout:
a waiting worker would lose the leases of its runs, and a page would not load.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Hashable
from datetime import datetime, timedelta
from typing import Any

from celery import current_app
from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

log = logging.getLogger(__name__)

LEFT = timedelta(seconds=2)
"""Seconds the reconciler waits for a queued task before it does the work itself."""
MOST = 256
"""Maximum number of waiting messages; more are dropped."""


class _Speaker:
    """Sends messages in order. A newer message with the same key replaces one that still waits."""

    def __init__(self) -> None:
        self._waiting: dict[Hashable, Callable[[], Any]] = {}
        self._came = threading.Condition()
        self._thread: threading.Thread | None = None

    def put(self, key: Hashable, say: Callable[[], Any]) -> None:
        with self._came:
            if len(self._waiting) >= MOST and key not in self._waiting:
                log.warning("%s is left to the reconciler: %d other messages wait for Redis", key, MOST)
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
    """Call ``say`` in the other thread; directly if there is no Redis."""
    if settings.REDIS_URL:
        _speaker.put(key, say)
    else:
        _try(key, say)


def post(task: str, *args: Any, queue: str | None = None) -> None:
    """Queue the task of this name; without ``queue``, by its route."""
    options: dict[str, Any] = {"queue": queue} if queue else {}
    aside((task, *args), lambda: current_app.signature(task, args=args).apply_async(**options))


def ask(
    row: QuerySet[Any],
    asked_at: datetime | None,
    task: str,
    *args: Any,
    again: timedelta,
    queue: str | None = None,
    **marks: Any,
) -> bool:
    """Queue the task for ``row`` unless it was queued within ``again``; returns whether it was queued now.

    ``row`` selects the row, whose ``asked_at`` and ``marks`` are set; ``asked_at`` is its current value.
    """
    now = timezone.now()
    if asked_at is not None and now - asked_at < again:
        return False
    row.update(asked_at=now, **marks)
    post(task, *args, queue=queue)
    return True


def is_left_to_task(asked_at: datetime | None) -> bool:
    """Whether a task queued at that time may still run."""
    return bool(settings.REDIS_URL) and asked_at is not None and timezone.now() - asked_at < LEFT


def _try(key: Hashable, say: Callable[[], Any]) -> None:
    try:
        say()
    except Exception as error:  # noqa: BLE001  each Redis client has its own classes for "it is away"
        log.warning("%s is left to the reconciler: %s", key, error)
