"""A client of a network of SilboPS, for programs with an event loop.

Counterpart: ``overlay.systems.silbops.clients`` has the protocol; this module adds a socket and a clock, and waits for
answers::

    async with Client(site_of(("127.0.0.1", 7000)), on_event=print) as car:
        await car.set_context({"x": 5.0, "y": 8.0})
        await car.subscribe([["kind", "=", "fire"]], "this.x - 20 <= pub.x <= this.x + 20")

With ``state="car.json"``, the next process with this file resumes, at any broker of the network: its subscriptions are
there, and what was kept for it comes first (``memory``).
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from random import SystemRandom
from time import monotonic_ns
from types import TracebackType
from typing import Self

from overlay.core.addresses import format_address
from overlay.core.errors import WaxwingError
from overlay.core.node import SECOND
from overlay.programs import inbox
from overlay.programs.questions import NoAnswer
from overlay.programs.silbops.memory import ID_BYTES, Constraints, InvalidMemory, Memory, Subscribed
from overlay.runtime.clock import wall_offset_ns
from overlay.runtime.line import Line
from overlay.systems.silbops.clients.attaching import State
from overlay.systems.silbops.clients.channel import ChannelWire
from overlay.systems.silbops.clients.client import Client as Library
from overlay.systems.silbops.clients.events import Accepted, Connected, Event, Rejected, Unanswered
from overlay.systems.silbops.clients.terms import LEAVING, NEW, Site, Terms
from overlay.systems.silbops.content.filters import read_filter
from overlay.systems.silbops.content.values import Values
from overlay.systems.silbops.peers import Peers
from overlay.systems.silbops.scope.text import parse
from overlay.systems.silbops.settings import Settings
from overlay.systems.silbops.wire.messages import Code

PATIENCE_S = 10.0
"""For the answer to a call that has no other limit."""
SETTLES_S = 0.5
"""After a new advertisement, until it is known everywhere and the subscriptions that it calls for have come. What is
published earlier may overtake them."""
Inbox = inbox.Inbox[Event]


class Refused(WaxwingError):
    """The library or the broker refused a call. ``code`` is that of seed 002, section 6."""

    def __init__(self, code: Code, words: str) -> None:
        super().__init__(words)
        self.code = code


class Client:
    """Attached while an ``async with`` block lasts. It survives restarts of its broker; ``on_event`` gets all events of
    ``clients.events``, and must not wait."""

    def __init__(
        self,
        site: Site,
        settings: Settings | None = None,
        *,
        id: bytes | None = None,
        state: str | Path | None = None,
        on_event: Callable[[Event], object] | None = None,
        within_s: float = PATIENCE_S,
    ) -> None:
        """``settings`` are the network's. ``id``: 16 bytes, drawn by default, or those of the file ``state``.
        ``within_s``: for attaching, and for each call. Raises ``InvalidMemory``."""
        settings = settings or Settings()
        if state is not None and settings.is_siena:
            raise InvalidMemory("a client of the siena arm cannot resume: only its process knows its ids on the wire")
        self._memory = None if state is None else Memory.at(state, id)
        self.id = self._memory.id if self._memory else id or secrets.token_bytes(ID_BYTES)
        former = self._memory.begin() if self._memory else NEW
        self.was_at = former.broker
        """The broker that served the process before; empty: there was none."""
        self._peers = Peers(self.id, settings, SystemRandom(), wall_offset_ns())
        self.core = Library(Terms.of(settings), self.id, ChannelWire(self._peers), monotonic_ns(), former)
        for number, one in self.subscriptions.items():
            scope = parse(one.scope) if one.scope else None
            self.core.subscribe(read_filter(one.where), monotonic_ns(), scope=scope, ttl_ms=one.ttl_ms, id=number)
        self._site, self._on_event, self._within_s = site, on_event, within_s
        self._answers: dict[int, Event | None] = {}
        """By number of a call that is waited for; ``None``: there is none yet."""
        self._line: Line | None = None

    async def __aenter__(self) -> Self:
        """Raises ``NoAnswer``."""
        self._line = Line(self.core, self._take)
        try:
            self.core.attach(self._site, monotonic_ns())
            await self._until(lambda: self.core.is_in)
        except BaseException:
            self._line.close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        """Detach, and wait until the broker has heard, or does not. It forgets the client after ``keep_s``."""
        self.core.detach(monotonic_ns())
        try:
            await self.line.until(lambda: self.core.state is State.OUT, LEAVING / SECOND)
        finally:
            self.line.close()

    @property
    def subscriptions(self) -> Mapping[int, Subscribed]:
        """Those in its file, by number; without a file none."""
        return self._memory.subscriptions if self._memory else {}

    @property
    def line(self) -> Line:
        assert self._line is not None, "it is used in an async with block"
        return self._line

    async def move(self, site: Site) -> None:
        """To another broker, which takes over what the old one has of it. Raises ``NoAnswer``."""
        self._site = site
        self.core.attach(site, monotonic_ns())
        await self._until(lambda: self.core.is_in and self.core.site == site)

    # ---- calls. They return once the broker has applied them, and raise ``Refused`` and ``NoAnswer``.

    async def set_context(self, values: Values) -> None:
        """The new context, all of it."""
        await self._answered(self.core.set_context(values, monotonic_ns()))

    async def subscribe(
        self, constraints: Constraints = (), scope: str = "", ttl_ms: int | None = None, number: int | None = None
    ) -> int:
        """Returns its number. ``scope``: a function of context. One with a known number is replaced: a client that
        resumes names its numbers. Raises ``InvalidText``, ``InvalidContent`` and ``InvalidMemory``, too."""
        function, now = parse(scope) if scope else None, monotonic_ns()
        asked = self.core.subscribe(read_filter(list(constraints)), now, scope=function, ttl_ms=ttl_ms, id=number)
        await self._answered(asked.call)
        if self._memory:
            self._memory.subscriptions[asked.id] = Subscribed(constraints, scope, ttl_ms)
            self._memory.save()
        return asked.id

    async def unsubscribe(self, number: int) -> None:
        """Raises ``InvalidMemory``, too."""
        await self._answered(self.core.unsubscribe(number, monotonic_ns()))
        if self._memory:
            self._memory.subscriptions.pop(number, None)
            self._memory.save()

    async def advertise(
        self,
        variables: Sequence[str] = (),
        constraints: Constraints = (),
        ttl_ms: int | None = None,
        *,
        number: int | None = None,
        readable: Sequence[str] | None = None,
    ) -> int:
        """Returns its number. ``variables`` of the context go with publications, whose functions may read variables
        ``readable`` of subscribers. One with a known number is replaced. Raises ``InvalidContent``, too."""
        asked = self.core.advertise(
            read_filter(list(constraints)),
            frozenset(variables),
            monotonic_ns(),
            subscriber_variables=None if readable is None else frozenset(readable),
            ttl_ms=ttl_ms,
            id=number,
        )
        await self._answered(asked.call)
        return asked.id

    async def publish(self, notification: Values, scope: str = "") -> None:
        """Returns once the broker has received it; it answers only refusals, which come as ``Rejected``, and raise
        ``Refused`` if the library refuses. ``scope``: a function of context for subscribers to satisfy."""
        call = self.core.publish(notification, monotonic_ns(), scope=parse(scope) if scope else None)
        self._answers[call] = None
        try:
            await self._until(lambda: self._answers[call] is not None or not self._is_under_way)
            self._raise(self._answers[call])
        finally:
            del self._answers[call]

    # ---- inner

    @property
    def _is_under_way(self) -> bool:
        return not self.core.has_room or self._peers.queued(self.core.site.broker.encode()) > 0

    async def _answered(self, call: int) -> None:
        self._answers[call] = None
        try:
            await self._until(lambda: self._answers[call] is not None)
            self._raise(self._answers[call])
        finally:
            del self._answers[call]

    def _raise(self, answer: Event | None) -> None:
        if isinstance(answer, Rejected):
            raise Refused(answer.code, answer.words)
        if isinstance(answer, Unanswered):
            raise NoAnswer(f"The client has left {self._where} before it answered.")

    async def _until(self, is_it: Callable[[], bool]) -> None:
        """Raises ``NoAnswer``."""
        if not await self.line.until(is_it, self._within_s):
            raise NoAnswer(f"{self._where} did not answer within {self._within_s:g} s.")

    @property
    def _where(self) -> str:
        return f"{self._site.broker} at {format_address(self._site.address)}"

    def _take(self, event: Event) -> None:
        if isinstance(event, Accepted | Rejected | Unanswered) and event.call in self._answers:
            self._answers[event.call] = event
        if isinstance(event, Connected) and self._memory and event.broker != self._memory.broker:
            self._memory.broker = event.broker
            with suppress(InvalidMemory):  # the next call that saves it says so
                self._memory.save()
        if self._on_event is not None:
            self._on_event(event)


__all__ = ["ID_BYTES", "Client", "Constraints", "Inbox", "InvalidMemory", "NoAnswer", "Refused"]
