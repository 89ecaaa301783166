"""What happens to subscriptions, to the URLs of applications, through ``notices.transport`` with its checks.

In threads of their own: a slow server keeps one of them, and the database is never behind it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import inf
from typing import Any, TypeVar
from urllib.parse import urlsplit

from django.conf import settings

from brokerweb.hosting.outbox import MOST_AT_ONCE, Outbox
from brokerweb.notices.transport import NotDelivered, post

AT_ONCE, OF_ONE_HOST = 16, 4
"""Requests on their way."""
JSON = "application/json"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Receiver:
    """Where the notifications of a subscription are sent."""

    subscription: str
    url: str
    content_type: str = JSON
    at_once: int = MOST_AT_ONCE
    """The most of one request."""
    wrapped: Callable[[Sequence[str]], str] | None = None
    """A body of several; ``None``: ``{subscription, notifications: […]}`` in JSON."""

    def body(self, texts: Sequence[str]) -> bytes:
        if self.wrapped is not None:
            return self.wrapped(texts).encode()
        return f'{{"subscription":"{self.subscription}","notifications":[{",".join(texts)}]}}'.encode()


class _Host:
    """A server of others, and how many wait for it."""

    def __init__(self) -> None:
        self.slots, self.users = asyncio.Semaphore(OF_ONE_HOST), 0


class Sender:
    """``ended(subscription, delivered, given up, why)`` is called after each attempt; why is empty if it succeeded."""

    def __init__(self, ended: Callable[[str, int, int, str], None]) -> None:
        self._ended = ended
        self._pool = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="hosting-url")
        self._slots = asyncio.Semaphore(AT_ONCE)
        self._hosts: dict[str, _Host] = {}
        self._outboxes: dict[str, tuple[Receiver, Outbox]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def add(self, to: Receiver, text: str) -> None:
        """``text`` is a notification as it is part of a body."""
        _, outbox = self._outboxes.setdefault(to.subscription, (to, Outbox(to.at_once)))
        lost = outbox.given_up
        outbox.add(text)
        if outbox.given_up > lost:
            self._ended(to.subscription, 0, outbox.given_up - lost, "There was no room for older notifications.")
        self._send_soon(to.subscription)

    def forget(self, subscription: str) -> None:
        """What waits for it is not sent."""
        self._outboxes.pop(subscription, None)

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

    async def in_turn(self, url: str, send: Callable[[], T]) -> T:
        """A request in a thread, not too many at once, and few of them to one host."""
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

    def _send_soon(self, id: str) -> None:
        """Unless it is sending, which ends with sending what came meanwhile."""
        loop, known = asyncio.get_running_loop(), self._outboxes.get(id)
        if known is not None and known[1].due() < inf:
            loop.call_later(max(0.0, known[1].due() - loop.time()), self._send_now, id)

    def _send_now(self, id: str) -> None:
        known = self._outboxes.get(id)
        if known is not None and known[1].due() <= asyncio.get_running_loop().time():
            self.spawn(self._send(*known, known[1].take()))

    async def _send(self, to: Receiver, outbox: Outbox, texts: Sequence[str]) -> None:
        headers = {"User-Agent": user_agent(), "Content-Type": to.content_type}
        why, time_out_s = "", settings.NOTICE_TIMEOUT_SECONDS
        try:
            await self.in_turn(to.url, lambda: post(to.url, to.body(texts), headers, time_out_s))
        except NotDelivered as refused:
            why = str(refused)
        except Exception as error:  # noqa: BLE001  a stranger's server may make a library say anything
            why = f"Sending failed: {error}."
        lost = outbox.given_up
        outbox.ended(asyncio.get_running_loop().time(), is_delivered=not why)
        self._ended(to.subscription, 0 if why else len(texts), outbox.given_up - lost, why)
        if outbox:
            self._send_soon(to.subscription)
        else:
            self.forget(to.subscription)


def user_agent() -> str:
    return f"Waxwing/{settings.VERSION}"
