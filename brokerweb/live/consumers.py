"""What the live page of a run listens to.

On connect the whole picture, then each new one; a slow viewer gets the newest and never a backlog. The layer may
drop frames or be gone altogether: whoever hears nothing for a while looks for itself.
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
from brokerweb.live.viewers import may_look

log = logging.getLogger(__name__)

NORMAL = 1000
WENT_WRONG = 1011
NOT_LOGGED_IN = 4401
UNKNOWN_RUN = 4404
LOOK_AFTER_S = 2.0
"""Silence after which a viewer is shown what rows and files say."""
CHECK_USER_S = 2.0
"""How often the viewer's session or token is looked up again. With ``LOOK_AFTER_S`` before it a viewer who has logged
out is sent nothing after 4 s. A look costs three queries by key."""


def current(run_id: str) -> Frame | None:
    """What can be seen of a run without the feed; ``None`` if there is no such run."""
    run = Run.objects.filter(pk=run_id).first()
    return None if run is None else snapshots.framed(snapshots.current(run))


class RunConsumer(AsyncWebsocketConsumer):
    """``/ws/runs/<id>/``. Close codes: 1000 the run has ended, 4401 not logged in, 4404 no such run."""

    groups: list[str] = []

    async def connect(self) -> None:
        self.run_id: str = self.scope["url_route"]["kwargs"]["run_id"]
        self.newest: Frame | None = None
        self.seq = 0
        self.arrived = asyncio.Event()
        self.sending: asyncio.Task[None] | None = None
        # Accepted before it is refused: a browser is told a close code only of an open connection.
        await self.accept()
        if not await may_look(self.scope):
            await self.close(code=NOT_LOGGED_IN)
            return
        # Subscribed before the first look, so that nothing falls between the two.
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
        """A frame from the feed; it takes the place of one that was not sent yet, unless it was overtaken by a look."""
        frame: Frame = event["frame"]
        if frame["seq"] <= self.seq and frame["state"] not in ENDED:
            return
        self.newest = frame
        self.arrived.set()

    async def _send(self) -> None:
        """Close where something goes wrong, such as a database that restarts: a browser then connects again."""
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
                if not await may_look(self.scope):
                    await self.close(code=NOT_LOGGED_IN)
                    return
            self.seq = frame["seq"]
            await self.send(text_data=frame["text"])
            if frame["state"] in ENDED:
                await self.close(code=NORMAL)
                return

    async def _next(self) -> Frame | None:
        """The newest unsent frame, or after a silence what can be seen without the feed."""
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
    """Any other address: there is nothing to listen to."""

    async def connect(self) -> None:
        await self.accept()
        await self.close(code=UNKNOWN_RUN)
