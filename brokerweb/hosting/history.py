"""What happens to hosted subscriptions: told to streams at once, and stored soon."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Coroutine, Mapping, Sequence
from typing import Any, NamedTuple

from django.db import DatabaseError
from django.utils import timezone

from brokerweb.front.replies import ENCODER
from brokerweb.hosting.feed import ENDED, NOTIFICATION, REMOVED, Feed, Happened
from brokerweb.hosting.rows import Tally, in_thread

FLUSH_S = 0.2
"""Until what happened is stored."""
KEPT_S = 60.0
"""The events of a network without subscriptions or listeners are known so long after they were last asked for: longer
than it takes to subscribe."""
log = logging.getLogger(__name__)


class Ending(NamedTuple):
    """A subscription that has ended by itself."""

    subscription: str
    state: str
    reason: str


class History:
    """``store`` is that of ``host.Host``."""

    def __init__(self, store: Callable[[Sequence[tuple[str, Tally]], Sequence[Ending]], None]) -> None:
        self._store = store
        self._feeds: dict[str, Feed] = {}
        """By network."""
        self._tallies: dict[str, Tally] = {}
        self._ended: list[Ending] = []
        self._spawn: Callable[[Coroutine[Any, Any, None]], None] | None = None
        self._timer: asyncio.TimerHandle | None = None

    def start(self, spawn: Callable[[Coroutine[Any, Any, None]], None]) -> None:
        """In the running event loop, where ``spawn`` begins tasks."""
        self._spawn, self._timer = spawn, None

    async def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._spawn = None
        await self.flush()
        self._feeds.clear()

    def feed(self, network: str) -> Feed:
        feed = self._feeds.setdefault(network, Feed())
        feed.used_at = asyncio.get_running_loop().time()
        return feed

    def forget_all_but(self, networks: Collection[str]) -> None:
        """Except for those with listeners, and those used lately: a subscription may be made there just now, whose
        stream begins behind what is the last event before it."""
        since = asyncio.get_running_loop().time() - KEPT_S
        self._feeds = {
            name: one
            for name, one in self._feeds.items()
            if name in networks or one.is_listened_to or one.used_at > since
        }

    def notified(self, row: Any, body: Mapping[str, Any]) -> None:
        """A notification has come for a subscription."""
        self._happened(row.client, NOTIFICATION, row.pk, body, len(ENCODER.encode(body)))
        tally = self._tallies.setdefault(row.pk, Tally())
        tally.notified += 1
        tally.last_notified = timezone.now()
        self._flush_soon()

    def removed(self, client: Any, subscription: str) -> None:
        """By its account; its row is gone, and its client's may be. Streams are told."""
        body = {"subscription": subscription, "end": REMOVED, "reason": ""}
        self._happened(client, ENDED, subscription, body, 0)

    def ended(self, row: Any, state: str, body: Mapping[str, Any], reason: str) -> None:
        """A subscription is over."""
        self._happened(row.client, ENDED, row.pk, body, len(reason))
        self._ended.append(Ending(row.pk, state, reason))
        self._flush_soon()

    def sent(self, subscription: str, delivered: int, given_up: int, why: str) -> None:
        """To its URL; ``why`` it was not, or empty."""
        tally = self._tallies.setdefault(subscription, Tally())
        tally.delivered += delivered
        tally.given_up += given_up
        if why:
            tally.failure, tally.last_failure = why, timezone.now()
        self._flush_soon()

    async def flush(self) -> None:
        """What the database refuses is kept for the next time."""
        self._timer = None
        tallies, self._tallies = self._tallies, {}
        ended, self._ended = self._ended, []
        try:
            await in_thread(self._store)(list(tallies.items()), ended)
        except DatabaseError as error:
            log.warning("counts of subscriptions were not stored yet: %s", error)
            self._ended = [*ended, *self._ended]
            self._tallies = {**self._tallies, **tallies}

    def _happened(self, client: Any, name: str, subscription: str, body: Mapping[str, Any], size_bytes: int) -> None:
        self.feed(client.network_id).add(Happened(name, subscription, str(client.owner_id), body), size_bytes)

    def _flush_soon(self) -> None:
        if self._timer is None and self._spawn is not None:
            spawn = self._spawn
            self._timer = asyncio.get_running_loop().call_later(FLUSH_S, lambda: spawn(self.flush()))
