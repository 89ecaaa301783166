"""One listener to the changes of a network: what it is sent, and when it is given up.

Counterparts: ``channels`` encodes the changes; ``stream_transports`` sends them as server-sent events or through a
websocket; ``streams`` has all listeners. One that does not read blocks only itself: it waits in ``send`` until it is
ended, and resumes by the id of its last event.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from brokerweb.front.channels import Channel, Event, Feed, Message, message
from brokerweb.front.principals import Credentials
from brokerweb.networks.snapshot import NetworkSnapshot
from brokerweb.systems.contract import Context

HEARTBEAT_S = 15.0
SLOW_S = 10.0
"""A listener that takes nothing for so long is ended."""
PAGE = 500
"""Entries of a snapshot that are read at once."""

log = logging.getLogger(__name__)


class Transport(Protocol):
    """The way to one listener."""

    async def begin(self) -> None: ...

    async def send(self, what: Message) -> None:
        """Returns once there is room for more."""
        ...

    async def beat(self, id: str) -> None:
        """A sign of life, with the id to resume behind."""
        ...

    async def end(self, code: str, sentence: str) -> None: ...

    async def gone(self) -> None:
        """Returns when the listener has left."""
        ...


class Listener:
    """One stream. Compared by identity. ``left`` is called when it has ended."""

    def __init__(
        self,
        left: Callable[[Listener], None],
        context: Context,
        snapshot: NetworkSnapshot,
        shown: Credentials,
        account: str,
        wants_snapshot: bool,
    ) -> None:
        self.network = snapshot.network
        self.shown = shown
        self.account = account
        self.feed: Feed | None = None
        self.channel: Channel | None = None
        self._has_left = left
        self._context = context
        self.snapshot = snapshot
        self._wants_snapshot = wants_snapshot
        self._position = 0
        self._is_reset = False
        self._resumes = False
        self._ending: tuple[str, str] | None = None
        self._is_gone = False
        self._woken: asyncio.Future[None] | None = None
        self._task: asyncio.Task[Any] | None = None
        self._sent_at = asyncio.get_running_loop().time()
        self._sends_since: float | None = None
        self._is_beat_due = False

    def join(self, feed: Feed, channel: Channel, id: str) -> None:
        """``id``: of the last event that it has; empty: begin now."""
        self.feed, self.channel = feed, channel
        number = feed.following.number_of(id) if id else None
        self._is_reset = bool(id) and (number is None or feed.following.changes(number, 0) is None)
        self._resumes = bool(id) and not self._is_reset
        self._position = feed.following.last if self._is_reset or number is None else number
        feed.listeners[self] = None

    def wake(self) -> None:
        if self._woken is not None and not self._woken.done():
            self._woken.set_result(None)

    def end(self, code: str, sentence: str) -> None:
        """Tell it why, and end it."""
        self._ending = code, sentence
        self.wake()

    def look(self, now: float) -> None:
        """Once in a while."""
        if self._sends_since is not None and now - self._sends_since >= SLOW_S:
            log.info("a stream of network %s was ended: its listener does not read", self.network)
            if self._task is not None:
                self._task.cancel()
        elif now - self._sent_at >= HEARTBEAT_S:
            self._is_beat_due = True
            self.wake()

    async def run(self, transport: Transport) -> None:
        """Until one of both sides ends it."""
        self._task = asyncio.current_task()
        leaving = asyncio.ensure_future(transport.gone())
        leaving.add_done_callback(self._left)
        try:
            await transport.begin()
            await self._begin(transport)
            while not self._is_gone:
                await self._go_on(transport)
                if self._ending is not None and not self._is_gone:
                    await self._in_time(transport.end(*self._ending))
                    return
                await self._wait()
        except asyncio.CancelledError:
            if self._sends_since is None:  # not by ``look``, but since the process ends
                raise
        finally:
            leaving.cancel()
            self._has_left(self)

    async def _begin(self, transport: Transport) -> None:
        assert self.feed is not None and self.channel is not None
        following = self.feed.following
        id = following.id_of(self._position)
        if self._is_reset:
            reason = "Some changes behind this id are no longer known."
            await self._send(transport, Event("reset", {"sentence": reason}, id))
        cursor, goes_on = "", self._wants_snapshot and not self._resumes
        while goes_on and not self._is_gone:
            listed = await self._context.list(self.snapshot, self.channel.selection, cursor, PAGE)
            await self._send(transport, *(Event("snapshot", row) for row in listed.rows))
            cursor = listed.following
            goes_on = bool(cursor)
        missing = following.missing(self.snapshot)
        await self._send(transport, Event("ready", {"complete": not missing, "missing": missing}, id))

    async def _go_on(self, transport: Transport) -> None:
        """Send what is released."""
        assert self.feed is not None and self.channel is not None
        while self._position < self.feed.released and not self._is_gone:
            found = self.channel.after(self._position, self.feed.released)
            if found is None:
                self._position, self._is_reset, self._resumes = self.feed.following.last, True, False
                await self._begin(transport)
                continue
            self._position = found.upto
            if found.sse:
                await self._in_time(transport.send(found))
        if self._is_beat_due:
            await self._in_time(transport.beat(self.feed.following.id_of(self._position)))
            self._is_beat_due = False

    async def _wait(self) -> None:
        assert self.feed is not None
        is_idle = self._position >= self.feed.released and self._ending is None and not self._is_beat_due
        if is_idle and not self._is_gone:
            self._woken = asyncio.get_running_loop().create_future()
            await self._woken
            self._woken = None

    async def _send(self, transport: Transport, *events: Event) -> None:
        if events:
            await self._in_time(transport.send(message(0, list(events))))

    async def _in_time(self, sending: Awaitable[None]) -> None:
        """``look`` ends it if this takes too long."""
        loop = asyncio.get_running_loop()
        self._sends_since = loop.time()
        await sending
        self._sends_since = None
        self._sent_at = loop.time()

    def _left(self, leaving: asyncio.Future[None]) -> None:
        self._is_gone = True
        if not leaving.cancelled():
            leaving.exception()
        self.wake()
