"""An application in the log of a network, in an event loop::

    async with Application(find()) as application:
        async for heard in application.messages():
            await application.send(bytes.fromhex(heard.message.source), b"thank you")

Counterpart: ``overlay.systems.contextnet.applications`` has what it does; this module adds the log, a clock, and waits
for answers.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from random import SystemRandom
from time import monotonic_ns
from types import TracebackType
from typing import NamedTuple, Self

from overlay.log.node import Start, Subscription
from overlay.programs.contextnet.logs import NetworkLog
from overlay.programs.questions import NoAnswer
from overlay.runtime.clock import wall_offset_ns
from overlay.runtime.logs.line import LogLine
from overlay.runtime.logs.port import Denied
from overlay.systems.contextnet.applications import application as cores
from overlay.systems.contextnet.applications.application import GROUP, Heard, Terms
from overlay.systems.contextnet.applications.rights import own_group
from overlay.systems.contextnet.names import APPLICATION
from overlay.systems.contextnet.records.names import INBOUND
from overlay.systems.contextnet.records.records import Message, Presence
from overlay.systems.contextnet.routing.replies import mqtt_client
from overlay.systems.contextnet.settings import Settings

PATIENCE_S = 10.0
"""For the log, where there is no other limit."""


class Sent(NamedTuple):
    """A message whose record is durable."""

    message: Message
    topic: str
    """Of a gateway, a group's, or that of messages to be stored: ``unsent``."""


class Application:
    """In the log while an ``async with`` block lasts. It survives restarts of the log."""

    def __init__(
        self,
        log: NetworkLog,
        name: str = "",
        *,
        group: str = GROUP,
        topics: Sequence[str] = (INBOUND,),
        allowed: Sequence[str] = (),
        settings: Terms | None = None,
        on_heard: Callable[[], object] | None = None,
        within_s: float = PATIENCE_S,
    ) -> None:
        """``name``: no other application has it; by default drawn. Applications of one ``group`` share messages of
        ``topics``, which may be empty: see ``listen``, which may add those that are ``allowed``, a setting of the
        network, as are ``settings``. ``on_heard`` is called when ``core.waiting``
        has messages, and must not wait. ``within_s``: for the log's first answer, and for each record."""
        self.log = log
        heard = [Subscription(topic, group) for topic in topics]
        place = secrets.token_hex(4)
        name = name or (own_group(log.application, place) if log.application else f"{APPLICATION}-{place}")
        self.core = cores.Application(name, settings or Settings(), SystemRandom(), wall_offset_ns(), heard)
        self._allowed, self._group = {*allowed, *topics}, group
        self._on_heard, self._within_s = on_heard, within_s
        self._has_come = asyncio.Event()
        self._line: LogLine | None = None
        self._denied: dict[str, str] = {}
        """As its port has it."""

    async def __aenter__(self) -> Self:
        """Raises ``NoAnswer``, and ``Denied`` if its user may not read a topic."""
        port = self.log.open(self.core.name, self.core, self._allowed)
        self._denied = port.denied
        self._line = LogLine(port, self._stepped)
        try:
            if not await self.line.until(lambda: self.core.is_ready or bool(self._denied), self._within_s):
                raise NoAnswer(self._why)
            self._check_rights()
        except BaseException:
            await self._line.leave()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        """What was settled is committed; what was not, another application of its group hears."""
        await self.line.leave()
        await asyncio.to_thread(self.log.forget, self.core.name, self.core.directory.topics)

    @property
    def line(self) -> LogLine:
        assert self._line is not None, "it is used in an async with block"
        return self._line

    @property
    def nodes(self) -> Mapping[bytes, Presence]:
        """Those that were ever connected, by id."""
        return self.core.directory.nodes

    # ---- sending. Each returns once its record is durable, and raises ``NoAnswer``, ``BadRecord`` and ``Denied``.

    async def send(self, node: bytes, payload: bytes, *, ttl_s: int = 0, reply_to: str = "") -> Sent:
        """To a node; one that is not connected gets it when it returns, within ``ttl_s`` (0: the network's default)."""
        message = self.core.compose(node.hex(), payload, monotonic_ns(), ttl_s=ttl_s, reply_to=reply_to)
        return await self._durable(message, lambda then: self.core.send(node, message, then).topic)

    async def answer(self, message: Message, payload: bytes) -> Sent:
        """To the sender of a message: a node, or a client of MQTT, which gets nothing if it is away."""
        client = mqtt_client(message.reply_to)
        if client is None:
            return await self.send(bytes.fromhex(message.source), payload)
        answer = self.core.compose(message.reply_to, payload, monotonic_ns())
        return await self._durable(answer, lambda then: self.core.tell(client, answer, then))

    async def cast(self, group: str, payload: bytes, *, reply_to: str = "") -> Sent:
        """To a group: ``definer/group``, a group of any definer, or ``*`` for all nodes. Those that are away get
        nothing."""
        message = self.core.compose(group, payload, monotonic_ns(), reply_to=reply_to)
        return await self._durable(message, lambda then: self.core.cast(message, then))

    async def _durable(self, message: Message, append: Callable[[Callable[[], None]], str]) -> Sent:
        done: list[bool] = []
        topic = append(lambda: done.append(True))
        self._denied.pop(topic, None)
        is_over = await self.line.until(lambda: bool(done) or bool(self._denied), self._within_s)
        self._check_rights(topic)
        if not is_over:
            raise NoAnswer(f"{self._log} did not confirm a record within {self._within_s:g} s; it may still come.")
        return Sent(message, topic)

    # ---- hearing

    async def listen(self, topics: Sequence[str]) -> bool:
        """To these topics from now on. Where its group, which no other application is in, has read nothing, it begins
        with the next message. Returns whether messages will come now: not if the log does not answer. Raises
        ``Denied``."""
        self.core.listen([Subscription(topic, self._group, Start.NEWEST) for topic in topics])
        hears = await self.line.until(lambda: self.core.hears_all or bool(self._denied), self._within_s)
        self._check_rights()
        return hears

    async def messages(self) -> AsyncIterator[Heard]:
        """Each is settled, which commits it, when the next one is asked for: who stops before hears it again. Raises
        ``Denied`` when its user may not read them any more."""
        while True:
            while not self.core.waiting:
                self._check_rights()
                self._has_come.clear()
                await self._has_come.wait()
            heard = self.core.waiting.popleft()
            if self.core.take_up(heard, monotonic_ns()):
                yield heard
                self.settle(heard)

    def settle(self, heard: Heard) -> None:
        """It is handled, and need not come again."""
        self.core.settle(heard.record)
        self.line.step_soon()

    # ---- inner

    def _stepped(self, now: int) -> None:
        if self._denied:
            self._has_come.set()
        if self.core.waiting:
            self._has_come.set()
            if self._on_heard is not None:
                self._on_heard()

    def _check_rights(self, written: str = "") -> None:
        """``written``: a topic that it writes, and need not read. Raises ``Denied``."""
        for topic in ("", written, *(one.topic for one in self.core.subscriptions())):
            if topic in self._denied:
                raise Denied(f"{self._log} refuses this: {self._denied.pop(topic)}.")

    @property
    def _log(self) -> str:
        return f"The log at {self.log.where}"

    @property
    def _why(self) -> str:
        if self.core.is_in:
            return f"{self._log} has no list of gateways of {self.log.network}: no gateway or PoA manager runs there."
        return f"{self._log} did not answer within {self._within_s:g} s."


__all__ = ["Application", "Denied", "Heard", "NoAnswer", "Sent"]
