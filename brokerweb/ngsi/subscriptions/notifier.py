"""Follows the networks that have subscriptions, and sends notifications, in the event loop of the web process.

Started with the process, so that subscriptions notify again after a restart. What changes while the process is down is
not notified.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from math import inf
from typing import Any

from django.conf import settings
from django.db import DatabaseError
from django.utils import timezone

from brokerweb.front.service import context_of
from brokerweb.kit.errors import NotAnswered, NotPossible
from brokerweb.networks.snapshot import read_snapshot
from brokerweb.ngsi.answers import JSON, encoded
from brokerweb.ngsi.entity_index import ENTITY_INDEXES, EntityIndex
from brokerweb.ngsi.entries import Entry
from brokerweb.ngsi.models import Subscription
from brokerweb.ngsi.problems import Problem
from brokerweb.ngsi.subscriptions import rows
from brokerweb.ngsi.subscriptions.outbox import Outbox
from brokerweb.ngsi.subscriptions.rows import Tally
from brokerweb.ngsi.subscriptions.rules import Rule
from brokerweb.notices.transport import NotDelivered, post

EVERY_S = 5.0
"""Rows are read and counts are stored again after this time, and at once after a change through this process."""
AT_ONCE = 16
"""Notifications on their way."""

RuleOf = Callable[[Subscription], Rule]
log = logging.getLogger(__name__)


@dataclass
class Live:
    """A subscription that notifies."""

    row: Subscription
    rule: Rule
    outbox: Outbox = field(default_factory=Outbox)
    tally: Tally = field(default_factory=Tally)


@dataclass
class Watch:
    """A network that is followed."""

    index: EntityIndex
    stop: Callable[[], None]


class Notifier:
    """``rule_of`` by standard."""

    def __init__(self) -> None:
        self.rule_of: dict[str, RuleOf] = {}
        self._live: dict[str, Live] = {}
        self._watches: dict[str, Watch] = {}
        self._task: asyncio.Task[None] | None = None
        self._woken = asyncio.Event()
        self._loading = asyncio.Lock()
        self._sending: set[asyncio.Task[None]] = set()
        self._slots = asyncio.Semaphore(AT_ONCE)

    def start(self) -> None:
        """In the running event loop."""
        self._woken, self._slots, self._loading = asyncio.Event(), asyncio.Semaphore(AT_ONCE), asyncio.Lock()
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def stop(self) -> None:
        for task in [self._task, *self._sending]:
            if task is not None:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
        for network in list(self._watches):
            self._watches.pop(network).stop()
        await self.flush()
        self._task = None
        self._live.clear()

    async def changed(self) -> None:
        """Subscriptions have changed: what changes from now on is notified by them."""
        if self._task is not None:
            await self.load()

    async def flush(self) -> None:
        """Store the counts."""
        tallies = [(id, one.tally) for id, one in self._live.items() if one.tally != Tally()]
        for id, _ in tallies:
            self._live[id].tally = Tally()
        if tallies:
            await rows.in_thread(rows.add)(tallies)

    async def _run(self) -> None:
        while True:
            self._woken.clear()
            try:
                await self.flush()
                await self.load()
            except DatabaseError as error:
                log.warning("subscriptions could not be read yet: %s", error)
            except Exception:
                log.exception("subscriptions could not be read")
            with suppress(TimeoutError):
                async with asyncio.timeout(EVERY_S):  # ``wait_for`` of Python 3.11 may lose a cancellation
                    await self._woken.wait()

    async def load(self) -> None:
        """Read the rows again, and follow the networks that they are about."""
        async with self._loading:
            await self._load()

    async def _load(self) -> None:
        found = {row.pk: row for row in await rows.in_thread(rows.live)(timezone.now())}
        for id in [id for id in self._live if id not in found]:
            del self._live[id]
        for row in found.values():
            self._take(row)
        networks = {one.row.network_id for one in self._live.values()}
        for network in [network for network in self._watches if network not in networks]:
            self._watches.pop(network).stop()
        for network in networks:
            await self._follow(network)

    def _take(self, row: Subscription) -> None:
        known = self._live.get(row.pk)
        if known is not None and _asks_of(known.row) == _asks_of(row):
            known.row = row
            return
        try:
            rule = self.rule_of[row.standard](row)
        except Problem as problem:  # written by another version
            log.warning("subscription %s cannot be read: %s", row.pk, problem)
            return
        if known is None:
            self._live[row.pk] = Live(row, rule)
        else:
            known.row, known.rule = row, rule

    async def _follow(self, network: str) -> None:
        snapshot = await rows.in_thread(read_snapshot)(network)
        if snapshot is None or not snapshot.is_up:
            return
        try:
            index = await ENTITY_INDEXES.get(snapshot, context_of(snapshot, "list"))
        except (NotPossible, NotAnswered) as error:
            log.warning("network %s cannot be followed yet: %s", network, error)
            return
        known = self._watches.get(network)
        if known is not None and known.index is index:
            return
        if known is not None:
            known.stop()
        self._watches[network] = Watch(index, self._watch(network, index))

    def _watch(self, network: str, index: EntityIndex) -> Callable[[], None]:
        def changed(type: str, id: str, before: Sequence[Entry], after: Sequence[Entry]) -> None:
            self._changed(network, type, id, before, after)

        def apply() -> None:
            if not index.apply():
                self._woken.set()  # what was missed is read again

        index.watchers.append(changed)
        stop = index.following.listen(apply)

        def end() -> None:
            stop()
            index.watchers.remove(changed)

        return end

    def _changed(self, network: str, type: str, id: str, before: Sequence[Entry], after: Sequence[Entry]) -> None:
        for one in self._live.values():
            if one.row.network_id == network and one.rule.concerns(type, id, before, after):
                one.outbox.add((type, id))
                self._send_soon(one)

    def _send_soon(self, one: Live) -> None:
        """Unless it is sending, which ends with sending what came meanwhile."""
        if one.outbox.due() < inf:
            loop = asyncio.get_running_loop()
            loop.call_later(max(0.0, one.outbox.due() - loop.time()), self._send_now, one)

    def _send_now(self, one: Live) -> None:
        if one.outbox.due() <= asyncio.get_running_loop().time() and self._live.get(one.row.pk) is one:
            places = one.outbox.take()
            task = asyncio.get_running_loop().create_task(self._send(one, places))
            self._sending.add(task)
            task.add_done_callback(self._sending.discard)

    async def _send(self, one: Live, places: Sequence[tuple[str, str]]) -> None:
        loop, watch = asyncio.get_running_loop(), self._watches.get(one.row.network_id)
        found = [] if watch is None else [one.rule.entity(list(watch.index.of(id, type))) for type, id in places]
        entities = [entity for entity in found if entity is not None]
        if not entities:
            one.outbox.nothing_to_send()
            self._send_soon(one)
            return
        try:
            headers, body = one.rule.notification(entities, time.time_ns() // 1_000_000)
            async with self._slots:
                why = await asyncio.to_thread(_post, one.rule.url, headers, body)
        except Exception as error:
            log.exception("a notification of the subscription %s failed", one.row.pk)
            why = f"{type(error).__name__}: {error}"
        self._count(one.tally, why)
        one.outbox.ended(loop.time(), one.rule.throttling_s, is_delivered=not why)
        self._send_soon(one)

    def _count(self, tally: Tally, why: str) -> None:
        now = timezone.now()
        tally.sent += 1
        tally.last_sent = now
        if why:
            tally.failures, tally.last_failure, tally.reason = (tally.failures or 0) + 1, now, why
        else:
            tally.failures, tally.last_success = 0, now


def _asks_of(row: Subscription) -> tuple[Any, ...]:
    """All that its rule is made of."""
    return row.standard, row.body, row.scopes, row.context


def _post(url: str, headers: Mapping[str, str], body: Any) -> str:
    """Why it was not delivered; empty if it was."""
    sent = {"Content-Type": JSON, "User-Agent": f"Waxwing/{settings.VERSION}", **headers}
    try:
        post(url, encoded(body), sent, settings.NOTICE_TIMEOUT_SECONDS)
    except NotDelivered as refused:
        return str(refused)
    except Exception as error:  # noqa: BLE001  a stranger's server may make a library say anything
        return f"Sending failed: {error}."
    return ""


NOTIFIER = Notifier()
