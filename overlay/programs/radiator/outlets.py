"""The ways in which a client of the gateway receives: at its port, by events that it streams, at a callback.

An outlet takes a push or does not. One that it does not take is repeated by the server, which gives up in the end.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import secrets
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import suppress
from typing import NamedTuple, Protocol

from overlay.core.addresses import Address
from overlay.programs.radiator.limits import Limits
from overlay.programs.radiator.posting import Callbacks, at_port, post
from overlay.programs.radiator.remembered import Bodies, Body, Event, Events
from overlay.systems.radiator.wire import messages as m
from overlay.systems.radiator.wire.compression import GZIP, deflate

SIGNATURE = "X-Waxwing-Signature"
JSON = {"Content-Type": "application/json"}
RECONNECT_MS = 1_000
PIECE_BYTES = 32_768
Settle = Callable[[m.Push, bool], None]
"""Called once for each push that was taken, with whether the client has it."""


class Shared(NamedTuple):
    """What the outlets of a gateway have in common."""

    bodies: Bodies
    limits: Limits
    counts: Counter[str]
    callbacks: Callbacks


class Outlet(Protocol):
    """``is_silent``: the last delivery failed, and nothing was heard of the client since."""

    is_silent: bool

    def take(self, push: m.Push, make: Callable[[], bytes]) -> bool:
        """``make`` makes the document."""
        ...

    def waiting(self) -> int:
        """Pushes that the client does not have yet."""
        ...

    def close(self) -> None: ...


class Port:
    """``POST /receive``, compressed, to the address that registered. 204 acknowledges."""

    def __init__(self, address: Address, shared: Shared, settle: Settle) -> None:
        self.address = address
        self._bodies, self._limits, self._counts, _ = shared
        self._settle = settle
        self._tasks: set[asyncio.Task[None]] = set()
        self._places = asyncio.Semaphore(shared.limits.posts)
        self.is_silent = False

    def take(self, push: m.Push, make: Callable[[], bytes]) -> bool:
        if len(self._tasks) >= self._limits.waiting:
            return False
        body = self._bodies.share(("gzip", *_numbers(push)), lambda: deflate(make(), GZIP))
        if body is None:
            return False
        task = asyncio.create_task(self._send(push, body))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return True

    async def _send(self, push: m.Push, body: Body) -> None:
        is_received = False
        try:
            async with self._places:
                headers = {**JSON, "Content-Encoding": "gzip"}
                is_received = await post(at_port(self.address), headers, body.data, self._limits.push_s) == 204
        finally:
            self.is_silent = not is_received
            self._counts["acknowledged" if is_received else "unacknowledged"] += 1
            self._settle(push, is_received)

    def waiting(self) -> int:
        return len(self._tasks)

    def close(self) -> None:
        for task in self._tasks:
            task.cancel()


class Stream:
    """Server-sent events. A push is taken while a stream is open, and for ``resume_s`` afterwards."""

    def __init__(self, shared: Shared, settle: Settle) -> None:
        self._bodies, self._limits, self._counts, _ = shared
        self._settle = settle
        self._events = Events(shared.limits.events, secrets.randbits(32))
        self._current: object | None = None
        self._news = asyncio.Event()
        self._left_at = time.monotonic()
        self.is_silent = False

    @property
    def is_open(self) -> bool:
        return self._current is not None

    def take(self, push: m.Push, make: Callable[[], bytes]) -> bool:
        is_away = not self.is_open and time.monotonic() - self._left_at > self._limits.resume_s
        body = None if is_away else self._bodies.share(("events", *_numbers(push)), make)
        if body is None or not self._events.add(body):
            self.is_silent = self.is_silent or is_away
            self._counts["left_out"] += 1
            return False
        self._news.set()
        self._settle(push, True)
        return True

    async def frames(self, last_event_id: str) -> AsyncGenerator[bytes, None]:
        """What to write, until the client opens another stream or leaves. Each piece must be read before the next."""
        me = self._current = object()
        self._news.set()
        number, missed = self._events.resume(last_event_id)
        try:
            yield b"retry: %d\n\n" % RECONNECT_MS
            if missed != 0:
                yield b'event: missed\ndata: {"missed":%b}\n\n' % (b"null" if missed is None else b"%d" % missed)
            while self._current is me:
                self._news.clear()
                event = self._events.after(number)
                if event is not None:
                    for piece in self._frame(event):
                        yield piece
                    number = event.number
                    self._events.sent(number)
                elif not await self._is_news():
                    yield b":\n\n"
        finally:
            if self._current is me:
                self._current, self._left_at = None, time.monotonic()

    def _frame(self, event: Event) -> Iterator[bytes]:
        """In pieces, so that what waits for a slow reader is one of them, not a copy of the event, for each stream."""
        yield b"id: %b\nevent: context\ndata: " % self._events.id_of(event).encode()
        for start in range(0, len(event.body.data), PIECE_BYTES):
            yield event.body.data[start : start + PIECE_BYTES]
        yield b"\n\n"

    async def _is_news(self) -> bool:
        with suppress(TimeoutError):
            async with asyncio.timeout(self._limits.heartbeat_s):
                return await self._news.wait()
        return False

    def waiting(self) -> int:
        return self._events.unsent

    def close(self) -> None:
        self._current = None
        self._events.clear()
        self._news.set()


class Callback:
    """A signed POST to a URL, in order, each tried some times; after one that fails, what waits is dropped."""

    def __init__(self, url: str, source: str, shared: Shared, settle: Settle, hear: Callable[[], None]) -> None:
        """``source`` has registered it. ``hear`` is called when a delivery has succeeded: then the client is there."""
        self.url, self.secret, self._source = url, secrets.token_hex(16), source
        self._bodies, self._limits, self._counts, self._callbacks = shared
        self._settle, self._hear = settle, hear
        self._events = Events(shared.limits.events, 0)
        self._task: asyncio.Task[None] | None = None
        self.is_silent = False

    def take(self, push: m.Push, make: Callable[[], bytes]) -> bool:
        body = None if self.is_silent else self._bodies.share(("events", *_numbers(push)), make)
        if body is None or not self._events.add(body):
            self._counts["left_out"] += 1
            return False
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._deliver())
        self._settle(push, True)
        return True

    async def _deliver(self) -> None:
        number = self._events.resume("")[0]
        while (event := self._events.after(number)) is not None:
            if not await self._is_received(event.body.data):
                self.is_silent = True
                self._counts["callbacks_failed"] += self._events.clear()
                return
            self._hear()
            self._counts["callbacks"] += 1
            number = event.number
            self._events.sent(number)

    async def _is_received(self, data: bytes) -> bool:
        headers = {**JSON, SIGNATURE: signature(data, self.secret)}
        wait_s, limits = self._limits.callback_wait_s, self._limits
        for tries in range(limits.callback_tries):
            if tries:
                await asyncio.sleep(wait_s)
                wait_s *= 2
            target = await self._callbacks.resolve(self.url, self._source, limits.callback_s)
            if target is None:
                continue
            if 200 <= await self._callbacks.post(target, headers, data, limits.callback_s) < 300:
                return True
        return False

    def waiting(self) -> int:
        return self._events.unsent

    def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
        self._events.clear()


def signature(data: bytes, secret: str) -> str:
    """As of the product's other webhooks: the HMAC-SHA-256 of the body's bytes."""
    return f"sha256={hmac.new(secret.encode(), data, hashlib.sha256).hexdigest()}"


def _numbers(push: m.Push) -> tuple[int, ...]:
    return push.epoch, push.propagation, push.chain, push.position, push.attempt
