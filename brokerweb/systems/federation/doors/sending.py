"""Notifications by webhook, and questions to providers by GET, through ``notices.transport`` with its checks.

In threads of their own: a slow server keeps one of them, and the database is never behind it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from math import inf
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlencode, urlsplit

from django.conf import settings

from brokerweb.front.replies import ENCODER
from brokerweb.notices.transport import NotDelivered, get, post
from brokerweb.systems.federation.doors.documents import content_in, content_of
from brokerweb.systems.federation.doors.outbox import MOST_AT_ONCE, Outbox
from brokerweb.systems.federation.doors.shapes import PublishedContent
from brokerweb.systems.federation.models import Format, HostedSubscription
from overlay.core.errors import InvalidSetting
from overlay.core.untrusted import Unreadable, read_json
from overlay.systems.federation.clients.provider import Content
from overlay.systems.federation.contextml.documents import read_document
from overlay.systems.federation.contextml.elements import write_context
from overlay.systems.federation.contextml.xml import InvalidContextML
from overlay.systems.federation.wire.values import Notification

AT_ONCE, OF_ONE_HOST = 16, 4
"""Requests on their way."""
XML, JSON = "application/xml", "application/json"
MOST_ANSWER_BYTES = 65_536
MOST_ANSWERS = 64
"""Notifications in an answer of a provider."""
T = TypeVar("T")

log = logging.getLogger(__name__)


class Question(NamedTuple):
    """What a provider is asked by GET."""

    scope: str
    entity_type: str | None
    entity_id: str | None


class _Host:
    """A server of others, and how many wait for it."""

    def __init__(self) -> None:
        self.slots, self.users = asyncio.Semaphore(OF_ONE_HOST), 0


class Sender:
    """``ended(subscription, delivered, given up, why)`` is called after each attempt; why is empty if it succeeded."""

    def __init__(self, ended: Callable[[str, int, int, str], None]) -> None:
        self._ended = ended
        self._pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="federation-url")
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._hosts: dict[str, _Host] = {}
        self._outboxes: dict[str, tuple[HostedSubscription, Outbox]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def add(self, row: HostedSubscription, notification: Notification, body: Mapping[str, Any]) -> None:
        """``body`` is its JSON."""
        is_xml = row.format == Format.CONTEXTML
        _, outbox = self._outboxes.setdefault(row.pk, (row, Outbox(1 if is_xml else MOST_AT_ONCE)))
        lost = outbox.given_up
        try:
            outbox.add(write_context(notification) if is_xml else ENCODER.encode(body))
        except InvalidContextML as error:  # characters that XML does not have
            self._ended(row.pk, 0, 1, str(error))
            return
        if outbox.given_up > lost:
            self._ended(row.pk, 0, outbox.given_up - lost, "There was no room for older notifications.")
        self._send_soon(row.pk)

    def forget(self, subscription: str) -> None:
        """What waits for it is not sent."""
        self._outboxes.pop(subscription, None)

    async def ask(self, url: str, question: Question, time_out_s: float, now_ms: int) -> list[Content]:
        """What a provider's URL answers, checked. Raises ``NotDelivered``, ``InvalidContextML``, ``InvalidSetting``."""
        named = {"entity": question.entity_id, "type": question.entity_type, "scope": question.scope}
        query = urlencode({name: value for name, value in named.items() if value is not None})
        asked = f"{url}{'&' if urlsplit(url).query else '?'}{query}"
        headers = {"Accept": f"{XML}, {JSON}", "User-Agent": f"Waxwing/{settings.VERSION}"}
        kind, data = await self._sent(url, lambda: get(asked, headers, time_out_s, MOST_ANSWER_BYTES))
        return _contents(kind, data, question, now_ms)

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Until ``stop``."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    @property
    def is_full(self) -> bool:
        """Whether more tasks are under way than make sense to wait for."""
        return len(self._tasks) >= 100 * AT_ONCE

    async def stop(self) -> None:
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _send_soon(self, id: str) -> None:
        """Unless it is sending, which ends with sending what came meanwhile."""
        loop, known = asyncio.get_running_loop(), self._outboxes.get(id)
        if known is not None and known[1].due() < inf:
            loop.call_later(max(0.0, known[1].due() - loop.time()), self._send_now, id)

    def _send_now(self, id: str) -> None:
        known = self._outboxes.get(id)
        if known is not None and known[1].due() <= asyncio.get_running_loop().time():
            self.spawn(self._send(*known, known[1].take()))

    async def _send(self, row: HostedSubscription, outbox: Outbox, texts: Sequence[str]) -> None:
        headers = {"User-Agent": f"Waxwing/{settings.VERSION}"}
        if row.format == Format.CONTEXTML:
            headers["Content-Type"] = XML
            data = f"<contextML><ctxEls>{''.join(texts)}</ctxEls></contextML>"
        else:
            headers["Content-Type"] = JSON
            data = f'{{"subscription":"{row.pk}","notifications":[{",".join(texts)}]}}'
        why, time_out_s = "", settings.NOTICE_TIMEOUT_SECONDS
        try:
            await self._sent(row.url, lambda: post(row.url, data.encode(), headers, time_out_s))
        except NotDelivered as refused:
            why = str(refused)
        except Exception as error:  # noqa: BLE001  a stranger's server may make a library say anything
            why = f"Sending failed: {error}."
        lost = outbox.given_up
        outbox.ended(asyncio.get_running_loop().time(), is_delivered=not why)
        self._ended(row.pk, 0 if why else len(texts), outbox.given_up - lost, why)
        if outbox:
            self._send_soon(row.pk)
        else:
            self.forget(row.pk)

    async def _sent(self, url: str, send: Callable[[], T]) -> T:
        """In a thread, not too many at once, and few of them to one host."""
        name = urlsplit(url).netloc
        host = self._hosts.setdefault(name, _Host())
        host.users += 1
        try:
            async with host.slots, self._slots:
                return await asyncio.get_running_loop().run_in_executor(self._pool, send)
        finally:
            host.users -= 1
            if not host.users:
                del self._hosts[name]


def _contents(kind: str, data: bytes, question: Question, now_ms: int) -> list[Content]:
    if not data.strip():
        return []
    if kind in (XML, "text/xml"):
        found = [content_in(one, now_ms) for one in read_document(data).notifications]
    else:
        found = [_content(one, question, now_ms) for one in _objects(data)]
    return [one for one in found[:MOST_ANSWERS] if one.scope == question.scope]


def _objects(data: bytes) -> list[Any]:
    try:
        found = read_json(data.decode())
    except (UnicodeDecodeError, Unreadable) as error:
        raise InvalidSetting("answer", f"is no JSON: {error}") from None
    return found if isinstance(found, list) else [found]


def _content(one: Any, question: Question, now_ms: int) -> Content:
    """What the question says need not be said again."""
    known = {name: value for name, value in question._asdict().items() if value is not None}
    if not isinstance(one, dict):
        raise InvalidSetting("answer", "must be an object, or a list of objects")
    shape = PublishedContent(data={**known, **one})
    if not shape.is_valid():
        name, words = next(iter(shape.errors.items()))
        raise InvalidSetting(f"answer.{name}", str(words[0]))
    return content_of(shape.validated_data, now_ms)
