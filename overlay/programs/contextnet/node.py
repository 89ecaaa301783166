"""A mobile node at the gateways of a network, in an event loop::

    async with Node([("127.0.0.1", 7000)], secret=secret, on_event=inbox.put) as node:
        await node.send(b"hello")

Counterpart: ``overlay.systems.contextnet.nodes`` has what it does; this module adds a socket and a clock, and waits for
answers.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from random import SystemRandom
from time import monotonic_ns
from types import TracebackType
from typing import Self

from overlay.core.addresses import Address, format_address
from overlay.core.errors import WaxwingError
from overlay.core.node import NodeEvent
from overlay.programs import inbox
from overlay.programs.questions import NoAnswer
from overlay.runtime.clock import wall_offset_ns
from overlay.runtime.line import Line
from overlay.systems.contextnet.keys import NO_SECRET
from overlay.systems.contextnet.nodes.node import Accepted, MobileNode
from overlay.systems.contextnet.records.kinds import ID_BYTES
from overlay.systems.contextnet.records.names import INBOUND
from overlay.systems.contextnet.settings import Settings
from overlay.systems.contextnet.transport.events import Refused as RefusedBy
from overlay.systems.contextnet.transport.layouts import Refusal

PATIENCE_S = 10.0
Inbox = inbox.Inbox[NodeEvent]


class Refused(WaxwingError):
    """A gateway does not accept the node, or too much waits. ``code`` is that of seed 004, section 3."""

    def __init__(self, words: str, code: Refusal | None = None) -> None:
        super().__init__(words)
        self.code = code


class Node:
    """Connected while an ``async with`` block lasts. It returns after breaks, follows hand-overs, and drops what it had
    before. ``on_event`` gets the events of ``nodes.node``, ``Received`` with messages, and must not wait."""

    def __init__(
        self,
        gateways: Sequence[Address],
        *,
        id: bytes | None = None,
        secret: bytes = NO_SECRET,
        settings: Settings | None = None,
        context: bytes = b"",
        on_event: Callable[[NodeEvent], object] | None = None,
        within_s: float = PATIENCE_S,
    ) -> None:
        """``gateways``: those to begin with, IPv4. ``id``: 16 bytes, drawn by default; ``secret``: its 32 bytes.
        ``context``: a MessagePack map, which goes with its messages. ``within_s``: for each answer."""
        settings = settings or Settings()
        self.id = secrets.token_bytes(ID_BYTES) if id is None else id
        self.core = MobileNode(self.id, secret, settings, settings, SystemRandom(), wall_offset_ns=wall_offset_ns())
        self.core.context = context
        self._gateways, self._on_event, self._within_s = tuple(gateways), on_event, within_s
        self._accepted: set[bytes] = set()
        self._refused: Refusal | None = None
        self._line: Line | None = None

    async def __aenter__(self) -> Self:
        """Raises ``NoAnswer`` and ``Refused``."""
        self._line = Line(self.core, self._take)
        try:
            self.core.turn_on(monotonic_ns(), self._gateways)
            if self.core.context:  # before its first message, which may be to its own group
                self.core.tell_context(self.core.context, monotonic_ns())
            await self.line.until(lambda: self.core.is_open or self._refused is Refusal.SECRET, self._within_s)
            if not self.core.is_open:
                self._raise()
        except BaseException:
            self._line.close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        """With a word to its gateway."""
        self.core.turn_off(monotonic_ns(), is_graceful=True)
        self.line.step()
        self.line.close()

    @property
    def line(self) -> Line:
        assert self._line is not None, "it is used in an async with block"
        return self._line

    async def send(self, payload: bytes, to: str = INBOUND, *, ttl_s: int = 0) -> bytes:
        """Returns the message's id once a gateway has taken it over. ``to``: ``inbound`` or another topic of
        applications, a group, or ``*`` for all nodes. Raises ``NoAnswer``, ``Refused`` and ``BadRecord``."""
        now = monotonic_ns()
        message = self.core.compose(to, payload, now, reply_to=self.core.name, ttl_s=ttl_s)
        if not self.core.send(message, now):
            raise Refused("Too many messages of the node wait for its gateway.")
        try:
            if not await self.line.until(lambda: message.id in self._accepted, self._within_s):
                raise NoAnswer(f"No gateway has taken over a message within {self._within_s:g} s; it may still come.")
        finally:
            self._accepted.discard(message.id)
        return message.id

    def tell_context(self, context: bytes) -> None:
        """A new context from now on, told at once."""
        self.core.tell_context(context, monotonic_ns())
        self.line.step_soon()

    # ---- inner

    def _raise(self) -> None:
        where = ", ".join(map(format_address, self._gateways))
        if self._refused is Refusal.SECRET:
            raise Refused(
                f"{where}: the node's secret is not known or revoked, or its address not allowed.", Refusal.SECRET
            )
        if self.core.is_heard:
            raise NoAnswer(
                f"{where} answers, but does not accept the node: is the secret that of node {self.core.name}?"
            )
        raise NoAnswer(f"{where} did not answer within {self._within_s:g} s. Is it a gateway of ContextNet?")

    def _take(self, event: NodeEvent) -> None:
        if isinstance(event, Accepted):
            self._accepted.add(event.id)
        elif isinstance(event, RefusedBy):
            self._refused = event.code
        if self._on_event is not None:
            self._on_event(event)


__all__ = ["Inbox", "NoAnswer", "Node", "Refused"]
