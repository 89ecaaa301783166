"""A message to a live server: in a session that is opened for it and closed afterwards, or outside sessions. Pure.

::

    HELLO ──> <── WELCOME, which tells the server's id ── a session ── before, the message ── answers ── after, BYE
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from brokerweb.wirelab.exchanges import LINGER, WAIT, Exchange, Heard
from overlay.channel import Channel, ChannelSettings, Down, Loose, wire
from overlay.channel import Message as Carried
from overlay.core.addresses import Address
from overlay.core.chance import Chance
from overlay.core.node import MILLISECOND

AGAIN = 200 * MILLISECOND
"""After which the first HELLO is repeated (ns)."""
CLOSING = 1_500 * MILLISECOND
"""Of closing: the channel sends what waits within 1 s, and repeats BYE (ns)."""
_SERVER: Address = ("server", 0)
"""Stands for the server, which the driver's socket is connected to."""
_ROOM = 256


@dataclass(frozen=True, slots=True)
class Speech:
    """What is said."""

    id: bytes
    """Of the sender: 1 to 64 bytes."""
    message: bytes
    before: tuple[bytes, ...] = ()
    """Messages in the session before it."""
    after: tuple[bytes, ...] = ()
    is_loose: bool = False
    """Whether it goes outside sessions, alone."""


class Talk(Exchange):
    def __init__(self, speech: Speech, is_last: Callable[[bytes, bytes], bool], chance: Chance) -> None:
        super().__init__()
        self._speech, self._is_last, self._chance = speech, is_last, chance
        self._channel = Channel(speech.id, ChannelSettings(), chance)
        self._me = 1 + chance.randrange((1 << 64) - 1)
        self._peer = b""
        """Empty until the server has told its id."""
        self._out: list[bytes] = []
        self._now = self._started = self._until = self._again = 0
        self._closing_until = 0
        self._is_over = False

    def start(self, now: int) -> None:
        self._now = self._started = now
        self._until = now + WAIT
        if self._speech.is_loose:
            self._channel.send_loose(_SERVER, self._speech.message)
        else:
            self._knock(now)

    def receive(self, data: bytes, now: int) -> None:
        self._now = now
        if self._peer or self._speech.is_loose:
            self._channel.receive(data, _SERVER, now)
            self._take_events()
        elif (peer := self._welcomed(data)) and peer != self._speech.id:
            self._begin(peer)

    def handle_timer(self, now: int) -> None:
        self._now = now
        self._channel.handle_timer(now)
        self._take_events()
        if self._closing_until:
            self._is_over = self._is_over or now >= self._closing_until
        elif now >= self._until:
            self._close()
        elif not self._peer and not self._speech.is_loose and now >= self._again:
            self._knock(now)

    def next_timer(self) -> int:
        due = self._closing_until or self._until
        if not self._peer and not self._speech.is_loose:
            return min(due, self._again)
        of_channel = self._channel.next_timer()
        return due if of_channel is None else min(due, of_channel)

    def to_send(self) -> list[bytes]:
        out, self._out = self._out, []
        return out + [data for data, _ in self._channel.datagrams_to_send()]

    @property
    def is_over(self) -> bool:
        return self._is_over

    def _knock(self, now: int) -> None:
        self._again = now + AGAIN
        self._out.append(wire.hello(self._me, self._speech.id, _ROOM))

    def _welcomed(self, data: bytes) -> bytes:
        """The server's id, if this is its WELCOME."""
        if len(data) < wire.HEAD_BYTES or data[:2] != bytes([wire.MAGIC, wire.WELCOME]):
            return b""
        to = wire.HEAD.unpack_from(data)[3]
        return wire.read_id(data, wire.HEAD_BYTES + 8, len(data)) if to == self._me else b""

    def _begin(self, peer: bytes) -> None:
        self._peer = peer
        self._channel.open(peer, _SERVER, self._now)
        for message in (*self._speech.before, self._speech.message):
            self._channel.send(peer, message, self._now)
        self._started = self._now
        self._until = self._now + WAIT

    def _take_events(self) -> None:
        for event in self._channel.events():
            match event:
                case Carried(message=message) | Loose(_, message, _) if not self._closing_until:
                    self._hear(message)
                case Down():
                    self._is_over = True

    def _hear(self, message: bytes) -> None:
        self.heard.append(Heard((self._now - self._started) / 1000, message))
        if self._is_last(self._speech.message, message):
            self._until = min(self._until, self._now + LINGER)

    def _close(self) -> None:
        if not self._peer:
            self._is_over = True
            return
        for message in self._speech.after:
            self._channel.send(self._peer, message, self._now)
        self._channel.close(self._peer, self._now)
        self._closing_until = self._now + CLOSING
        self._take_events()
