"""Listeners to the changes of networks: their beginning, their limits, and what ends them.

Counterpart: ``listeners`` has what one of them is sent.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Hashable, Mapping

from django.conf import settings
from django.db import DatabaseError
from rest_framework.exceptions import APIException, NotFound

from brokerweb.front.channels import Feed
from brokerweb.front.listeners import Listener
from brokerweb.front.principals import Credentials, Principal
from brokerweb.front.service import ContextRequest, Service, context_of, selection_of
from brokerweb.kit.errors import NotAnswered
from brokerweb.networks.snapshot import NetworkSnapshot
from brokerweb.operationlog import recording
from brokerweb.operationlog.entries import REST, STREAM
from brokerweb.systems.contract import Absent, Context
from overlay.core.errors import InvalidSetting

CHECK_S = 1.0
"""Between two looks at all listeners: may they still, do they read, is it time for a sign of life."""
UNCHECKED_S = 60.0
"""Streams go on for so long while the database does not say whether they still may; then they are ended."""
MOST = 2_000
"""Streams of this process."""

Authorize = Callable[[Credentials], Awaitable[Principal | None]]
Look = Callable[[str], Awaitable[NetworkSnapshot | None]]
log = logging.getLogger(__name__)


class TooManyStreams(APIException):
    """A limit of streams is reached."""

    status_code = 429
    default_code = "too_many_streams"


class Streams:
    """Those of one process, in one event loop."""

    def __init__(self, service: Service, authorize: Authorize, look: Look) -> None:
        self.check_s = CHECK_S
        self._service = service
        self._authorize = authorize
        self._network = look
        self._feeds: dict[str, Feed] = {}
        self._listeners: dict[Listener, None] = {}
        self._of: Counter[str] = Counter()
        self._checking: asyncio.Task[None] | None = None
        self._checked_at = 0.0
        """When the last look at rights began that ended well."""

    def __len__(self) -> int:
        """The number of listeners."""
        return len(self._listeners)

    async def open(self, asked: ContextRequest, principal: Principal, shown: Credentials) -> Listener:
        """A listener, which is to ``run``. Raises errors of services and of REST, before anything is sent."""
        about = [f"{name}={value}" for name, value in asked.parameters.items()]
        with recording.noted(asked.snapshot.network, principal.who, REST, STREAM, about):
            context = context_of(asked.snapshot, "stream")
            selection = selection_of(context, asked.parameters)
            wants_snapshot = _flag(asked.parameters.get("snapshot", "false"))
            return await self._open(asked, principal, shown, context, selection, wants_snapshot)

    async def _open(
        self,
        asked: ContextRequest,
        principal: Principal,
        shown: Credentials,
        context: Context,
        selection: Hashable,
        wants_snapshot: bool,
    ) -> Listener:
        self._check_limits(principal.account)
        self._service.watch(asked.snapshot.system, context)
        listener = Listener(self.leave, context, asked.snapshot, shown, principal.account, wants_snapshot)
        self._listeners[listener] = None
        self._of[principal.account] += 1
        try:
            following = await context.follow(asked.snapshot)
            feed = self._feeds.get(asked.snapshot.network)
            if feed is None:
                feed = self._feeds[asked.snapshot.network] = Feed(following)
            id = asked.headers.get("last-event-id") or asked.parameters.get("last_event_id", "")
            listener.join(feed, feed.channel(selection), id)
            # It listens already: what ends meanwhile is told to it.
            await context.check(asked.snapshot, selection, principal.account, id)
        except BaseException as error:
            self.leave(listener)
            if isinstance(error, Absent):
                raise NotFound(str(error)) from None
            raise
        if self._checking is None or self._checking.done():
            self._checked_at = asyncio.get_running_loop().time()
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
        """Until there is no listener. Signs of life do not wait for the database."""
        loop = asyncio.get_running_loop()
        rights: asyncio.Task[None] | None = None
        try:
            while self._listeners:
                await asyncio.sleep(self.check_s)
                if rights is None or rights.done():
                    rights = loop.create_task(self._check_rights())
                self._look(loop.time())
        finally:
            if rights is not None:
                rights.cancel()

    def _look(self, now: float) -> None:
        for one in list(self._listeners):
            if now - self._checked_at >= UNCHECKED_S:
                one.end("not_checked", f"Rights could not be checked for {UNCHECKED_S:g} s. Connect again.")
            one.look(now)

    async def _check_rights(self) -> None:
        began = asyncio.get_running_loop().time()
        try:
            shown = {one.shown: await self._authorize(one.shown) for one in dict.fromkeys(self._listeners)}
            networks = {name: await self._network(name) for name in {one.network for one in self._listeners}}
            self._apply(shown, networks)
            self._checked_at = began
        except DatabaseError:  # it is asked again in a second
            log.warning("rights of streams could not be checked")
        except Exception:
            log.exception("streams were not checked")

    def _apply(
        self, shown: Mapping[Credentials, Principal | None], networks: Mapping[str, NetworkSnapshot | None]
    ) -> None:
        """End those that may not go on. Who came meanwhile is not among them."""
        for network, snapshot in networks.items():
            if network in self._feeds and snapshot is not None and snapshot.is_up:
                try:
                    self._feeds[network].following.follow(snapshot)
                except NotAnswered as error:
                    log.warning("the brokers of network %s are not followed as they are now: %s", network, error)
        for one in list(self._listeners):
            if one.shown in shown and shown[one.shown] is None:
                one.end("permission_denied", "This token, session or account may not read this network any more.")
            elif one.network in networks and not ((snapshot := networks[one.network]) and snapshot.is_up):
                one.end("not_running", "This network does not run any more.")
            elif one.network in networks:
                one.snapshot = networks[one.network] or one.snapshot


def _flag(text: str) -> bool:
    """Raises ``InvalidSetting``."""
    if text not in ("true", "false"):
        raise InvalidSetting("snapshot", f"must be true or false, not {text!r:.40}")
    return text == "true"
