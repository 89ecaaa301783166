"""Creates snapshots of this host's live runs once a second and sends them to viewers.

One process per host (``manage.py livefeed``). It only reads journals and rows, so it can be restarted at any time.
Without Redis nothing is sent; it continues once Redis is back.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator

from asgiref.sync import sync_to_async
from channels.layers import get_channel_layer
from django.conf import settings
from django.db import close_old_connections
from django.utils import timezone

from brokerweb.control.reaping import Reaper
from brokerweb.experiments.models import Run, RunState
from brokerweb.experiments.queue_position import Queue
from brokerweb.experiments.states import ACTIVE
from brokerweb.live import snapshots
from telemetry.lake.runs import RunFiles
from telemetry.live.window import LiveWindow

log = logging.getLogger(__name__)

ROUND_S = 0.9
"""Interval of frames; below a second, because a busy machine is late."""
QUEUED_SHOWN = 20
"""Number of queued runs whose viewers get updates; others see their position on reload."""


class Feed:
    """The telemetry windows of this host's live runs."""

    def __init__(self, host: str) -> None:
        self._host = host
        self._windows: dict[str, LiveWindow] = {}

    def frames(self) -> list[tuple[str, snapshots.Frame]]:
        """(run, snapshot) of every run with news; ended runs a last time."""
        queue = Queue()
        active = {run.pk: run for run in Run.objects.filter(host=self._host, state__in=ACTIVE)}
        for run_id in active.keys() - self._windows.keys():
            self._windows[run_id] = _window(run_id)
        ended = Run.objects.filter(pk__in=self._windows.keys() - active.keys())
        made = [(run.pk, self._frame(run, queue)) for run in (*active.values(), *ended)]
        for run_id in self._windows.keys() - active.keys():
            del self._windows[run_id]
        return made + list(self._queued(queue))

    def _frame(self, run: Run, queue: Queue) -> snapshots.Frame:
        if not self._windows[run.pk].has_manifest:
            self._windows[run.pk] = _window(run.pk)
        snapshot = snapshots.whole(self._windows[run.pk].advance(), run, queue)
        snapshots.keep(run.pk, snapshot)
        return snapshots.framed(snapshot)

    @staticmethod
    def _queued(queue: Queue) -> Iterator[tuple[str, snapshots.Frame]]:
        waiting = [run.pk for run in queue.queued[:QUEUED_SHOWN]]
        for run in Run.objects.filter(pk__in=waiting, state=RunState.QUEUED):
            yield run.pk, snapshots.framed(snapshots.whole(snapshots.window_part(run.pk), run, queue))


def _window(run_id: str) -> LiveWindow:
    return LiveWindow(RunFiles(settings.RUNS / run_id))


async def run_for_ever() -> None:
    """Run until the process should stop."""
    feed, reaper = Feed(settings.HOST_NAME), Reaper()
    layer = get_channel_layer()
    assert layer is not None
    while True:
        began = time.monotonic()
        try:
            for run_id, frame in await sync_to_async(_round)(feed, reaper):
                await layer.group_send(snapshots.group_of(run_id), {"type": "snapshot", "frame": frame})
        except Exception as error:  # noqa: BLE001  Redis away, database locked: the next round shows everything
            log.warning("no frames were sent this second: %s", error)
        await asyncio.sleep(max(0.05, ROUND_S - (time.monotonic() - began)))


def _round(feed: Feed, reaper: Reaper) -> list[tuple[str, snapshots.Frame]]:
    close_old_connections()
    try:
        reaper.look(timezone.now())
        return feed.frames()
    finally:
        close_old_connections()
