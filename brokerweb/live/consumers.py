"""Websocket consumers of a run's live page.

On connect, the complete snapshot is sent, then each new one. A slow viewer gets the newest snapshot, never a backlog.
The channel layer may drop frames or be unavailable: after some silence, the consumer reads rows and files itself.
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer

from brokerweb.experiments.models import Run
from brokerweb.experiments.states import ENDED
from brokerweb.live import snapshots
from brokerweb.live.snapshots import Frame
from brokerweb.live.websocket_auth import refused

log = logging.getLogger(__name__)

NORMAL = 1000
WENT_WRONG = 1011
UNKNOWN_RUN = 4404
LOOK_AFTER_S = 2.0
"""Seconds of silence after which rows and files are read."""
CHECK_USER_S = 2.0
"""Seconds between checks of the viewer's session or token. Together with ``LOOK_AFTER_S``, nothing is sent later
than 4 s after a logout. A check costs three queries by key.
"""


def current(run_id: str) -> Frame | None:
    """The snapshot of a run without the feed; ``None`` if the run does not exist."""
    run = Run.objects.filter(pk=run_id).first()
    return None if run is None else snapshots.framed(snapshots.current(run))


class RunConsumer(AsyncWebsocketConsumer):
    """``/ws/runs/<id>/``. Close codes: 1000 ended, 4401 not logged in, 4403 not allowed, 4404 no such run."""

    groups: list[str] = []

    async def connect(self) -> None:
        self.run_id: str = self.scope["url_route"]["kwargs"]["run_id"]
        self.newest: Frame | None = None
        self.seq = 0
        self.arrived = asyncio.Event()
        self.sending: asyncio.Task[None] | None = None
        # Accept before refusing: browsers see a close code only of an open connection.
        await self.accept()
        if code := await refused(self.scope):
            await self.close(code=code)
            return
        # Subscribe before the first read, so that no update is missed.
        await self.channel_layer.group_add(snapshots.group_of(self.run_id), self.channel_name)
        first = await self._look()
        if first is None:
            await self.close(code=UNKNOWN_RUN)
            return
        self.newest = first
        self.arrived.set()
        self.sending = asyncio.create_task(self._send())

    async def disconnect(self, code: int) -> None:
        if self.sending is not None:
            self.sending.cancel()
        await self.channel_layer.group_discard(snapshots.group_of(self.run_id), self.channel_name)

    async def snapshot(self, event: dict[str, Any]) -> None:
        """A frame from the feed; it replaces an unsent one, unless a newer one was read."""
        frame: Frame = event["frame"]
        if frame["seq"] <= self.seq and frame["state"] not in ENDED:
            return
        self.newest = frame
        self.arrived.set()

    async def _send(self) -> None:
        """Close the connection on errors, such as a database restart; browsers reconnect."""
        try:
            await self._send_newest()
        except Exception:
            log.exception("the live page of run %s", self.run_id)
            await self.close(code=WENT_WRONG)

    async def _send_newest(self) -> None:
        checked = asyncio.get_running_loop().time()
        while True:
            frame = await self._next()
            if frame is None:
                await self.close(code=UNKNOWN_RUN)
                return
            now = asyncio.get_running_loop().time()
            if now - checked >= CHECK_USER_S:
                checked = now
                if code := await refused(self.scope):
                    await self.close(code=code)
                    return
            self.seq = frame["seq"]
            await self.send(text_data=frame["text"])
            if frame["state"] in ENDED:
                await self.close(code=NORMAL)
                return

    async def _next(self) -> Frame | None:
        """The newest unsent frame, or, after some silence, a snapshot read without the feed."""
        try:
            await asyncio.wait_for(self.arrived.wait(), LOOK_AFTER_S)
        except TimeoutError:
            return await self._look()
        self.arrived.clear()
        frame, self.newest = self.newest, None
        return frame

    async def _look(self) -> Frame | None:
        return await database_sync_to_async(current)(self.run_id)


class Nowhere(AsyncWebsocketConsumer):
    """Unknown URL: refuse."""

    async def connect(self) -> None:
        await self.accept()
        await self.close(code=UNKNOWN_RUN)
