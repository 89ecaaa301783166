"""Listeners to the changes of networks: their beginning, their limits, and what ends them.

Counterparts: ``channels`` encodes the changes; ``stream_transports`` sends them as server-sent events or through a
websocket. A listener that does not read blocks only itself: it waits in ``send`` until it is ended, and resumes
by the id of its last event.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Hashable
from typing import Any, Protocol

from django.conf import settings
from django.db import DatabaseError
from rest_framework.exceptions import APIException

from brokerweb.front.channels import Channel, Event, Feed, Message, message
from brokerweb.front.service import Asked, Service, context_of, selection_of
from brokerweb.front.visitors import Credentials, Visitor
from brokerweb.networks.sight import Sight
from brokerweb.operationlog import recording
from brokerweb.operationlog.entries import REST, STREAM
from brokerweb.systems.contract import Context
from overlay.core.errors import InvalidSetting

CHECK_S = 1.0
"""Between two looks at all listeners: may they still, do they read, is it time for a sign of life."""
HEARTBEAT_S = 15.0
SLOW_S = 10.0
"""A listener that takes nothing for so long is ended."""
MOST = 2_000
"""Streams of this process."""
PAGE = 500
"""Entries of a snapshot that are read at once."""

Admit = Callable[[Credentials], Awaitable[Visitor | None]]
Look = Callable[[str], Awaitable[Sight | None]]
log = logging.getLogger(__name__)


class TooManyStreams(APIException):
    """A limit of streams is reached."""

    status_code = 429
    default_code = "too_many_streams"


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


class Streams:
    """Those of one process, in one event loop."""

    def __init__(self, service: Service, admit: Admit, look: Look) -> None:
        self.check_s = CHECK_S
        self._service = service
        self._admit = admit
        self._look = look
        self._feeds: dict[str, Feed] = {}
        self._listeners: dict[Listener, None] = {}
        self._of: Counter[str] = Counter()
        self._checking: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        """The number of listeners."""
        return len(self._listeners)

    async def open(self, asked: Asked, visitor: Visitor, shown: Credentials) -> Listener:
        """A listener, which is to ``run``. Raises errors of services and of REST, before anything is sent."""
        context = context_of(asked.sight, "stream")
        selection = selection_of(context, asked.parameters)
        wants_snapshot = _flag(asked.parameters.get("snapshot", "false"))
        with recording.noted(asked.sight.network, visitor.who, REST, STREAM, ()):
            return await self._open(asked, visitor, shown, context, selection, wants_snapshot)

    async def _open(
        self,
        asked: Asked,
        visitor: Visitor,
        shown: Credentials,
        context: Context,
        selection: Hashable,
        wants_snapshot: bool,
    ) -> Listener:
        self._check_limits(visitor.account)
        self._service.watch(asked.sight.system, context)
        listener = Listener(self, context, asked.sight, shown, visitor.account, wants_snapshot)
        self._listeners[listener] = None
        self._of[visitor.account] += 1
        try:
            following = await context.follow(asked.sight)
        except BaseException:
            self.leave(listener)
            raise
        feed = self._feeds.get(asked.sight.network)
        if feed is None:
            feed = self._feeds[asked.sight.network] = Feed(following)
        id = asked.headers.get("last-event-id") or asked.parameters.get("last_event_id", "")
        listener.join(feed, feed.channel(selection), id)
        if self._checking is None or self._checking.done():
            self._checking = asyncio.get_running_loop().create_task(self._check())
        return listener

    def leave(self, listener: Listener) -> None:
        """It has ended."""
        if self._listeners.pop(listener, 0) == 0:
            return
        self._of[listener.account] -= 1
        self._of += Counter()  # drops zeros
        if listener.feed is None or listener.channel is None:
            return
        selection = listener.channel.selection
        same = (one for one in self._listeners if one.channel is listener.channel)
        listener.feed.leave(listener, selection, next(same, None) is None)
        if not listener.feed.listeners:
            listener.feed.close()
            self._feeds.pop(listener.network, None)

    def _check_limits(self, account: str) -> None:
        """Raises ``TooManyStreams``."""
        most = settings.STREAMS_OF_ONE_ACCOUNT
        if self._of[account] >= most:
            raise TooManyStreams(f"This account has {most} streams, the most at once. Close some first.")
        if len(self._listeners) >= MOST:
            raise TooManyStreams(f"This server has {MOST:,} streams, the most at once. Try again later.")

    async def _check(self) -> None:
        """Until there is no listener."""
        while self._listeners:
            await asyncio.sleep(self.check_s)
            try:
                await self._check_all()
            except DatabaseError:  # it is asked again in a second
                log.warning("rights of streams could not be checked")
            except Exception:
                log.exception("streams were not checked")

    async def _check_all(self) -> None:
        shown = {one.shown: await self._admit(one.shown) for one in dict.fromkeys(self._listeners)}
        networks = {name: await self._look(name) for name in {one.network for one in self._listeners}}
        now = asyncio.get_running_loop().time()
        for network, sight in networks.items():
            if network in self._feeds and sight is not None and sight.is_up:
                self._feeds[network].following.follow(sight)
        for one in list(self._listeners):
            if one.shown in shown and shown[one.shown] is None:
                one.end("permission_denied", "This token, session or account may not read this network any more.")
            elif one.network in networks and not ((sight := networks[one.network]) and sight.is_up):
                one.end("not_running", "This network does not run any more.")
            else:
                if one.network in networks:
                    one.sight = networks[one.network] or one.sight
                one.look(now)


class Listener:
    """One stream. Compared by identity."""

    def __init__(
        self, streams: Streams, context: Context, sight: Sight, shown: Credentials, account: str, wants_snapshot: bool
    ) -> None:
        self.network = sight.network
        self.shown = shown
        self.account = account
        self.feed: Feed | None = None
        self.channel: Channel | None = None
        self._streams = streams
        self._context = context
        self.sight = sight
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
            self._streams.leave(self)

    async def _begin(self, transport: Transport) -> None:
        assert self.feed is not None and self.channel is not None
        following = self.feed.following
        id = following.id_of(self._position)
        if self._is_reset:
            reason = "Some changes behind this id are no longer known."
            await self._send(transport, Event("reset", {"sentence": reason}, id))
        cursor, goes_on = "", self._wants_snapshot and not self._resumes
        while goes_on and not self._is_gone:
            listed = await self._context.list(self.sight, self.channel.selection, cursor, PAGE)
            await self._send(transport, *(Event("snapshot", row) for row in listed.rows))
            cursor = listed.following
            goes_on = bool(cursor)
        missing = following.missing(self.sight)
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


def _flag(text: str) -> bool:
    """Raises ``InvalidSetting``."""
    if text not in ("true", "false"):
        raise InvalidSetting("snapshot", f"must be true or false, not {text!r:.40}")
    return text == "true"
