"""A client with a socket, message by message, so that it is known what a server had to do.

Counterparts: ``live`` has the servers; the clients of a system add its messages.
"""

from __future__ import annotations

import select
import socket
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from statistics import median
from typing import Any, Generic, Protocol, TypeVar

from overlay.core.addresses import Address
from overlay.core.node import SECOND
from overlay.peers.peers import Heard
from telemetry.calibration.live import Running, Standing
from telemetry.errors import TelemetryError

PATIENCE_S = 5.0
RESTS_S = (0.001, 0.004, 0.012, 0.04, 0.12)
SETTLED_S = 0.002
"""After an answer was heard, until the server sleeps again."""
ACKNOWLEDGED_S = 0.05
"""Twice as long as a client waits with an acknowledgement, or longer."""
Answer = TypeVar("Answer")
Peer = TypeVar("Peer")
_Named = TypeVar("_Named", contravariant=True)


class Channel(Protocol):
    """As ``overlay.channel.Channel``."""

    def next_timer(self) -> int | None: ...
    def handle_timer(self, now: int) -> None: ...
    def datagrams_to_send(self) -> Sequence[tuple[bytes, Address]]: ...


class Sessions(Protocol[_Named]):
    """As ``overlay.peers.peers.Peers``, whose peers are named as each system does."""

    now: int

    @property
    def channel(self) -> Channel: ...

    def open(self, peer: _Named, address: Address) -> bool: ...
    def send(self, peer: _Named, message: Any) -> bool: ...
    def receive(self, data: bytes, source: Address) -> None: ...
    def events(self) -> Sequence[Any]: ...


class Speaker(Generic[Peer]):
    """One client of one server. Raises ``TelemetryError`` where an answer does not come."""

    def __init__(self, name: str, server: Peer, standing: Standing, peers: Sessions[Peer]) -> None:
        """``server``: as ``peers`` name it."""
        self.name, self.server, self.address = name, server, standing.address
        self._sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._sock.bind(("127.0.0.1", 0))
        self._sock.setblocking(False)
        self._peers = peers
        self._heard: deque[Any] = deque()
        self._numbers = count(time.time_ns() // 1_000)
        peers.now = time.monotonic_ns()
        peers.open(server, self.address)

    def read(self, event: Any) -> Any | None:
        """The message of an event, if it has one."""
        return event.message if isinstance(event, Heard) else None

    def refusal(self, message: Any) -> str:
        """Why the server refuses, if that is what it says."""
        raise NotImplementedError

    def close(self) -> None:
        self._sock.close()

    def draw(self) -> int:
        """A number above all earlier ones."""
        return next(self._numbers)

    def say(self, *messages: Any) -> None:
        """In one datagram, if they fit."""
        self._turn()
        for one in messages:
            self._peers.send(self.server, one)
        self._flush()

    def hear(self, kind: type[Answer]) -> Answer:
        """The next message of this kind; others are skipped."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            while self._heard:
                found = self._heard.popleft()
                if isinstance(found, kind):
                    return found
                if reason := self.refusal(found):
                    raise TelemetryError(f"{self.server!s} refused a message of {self.name}: {reason}.")
            if time.monotonic() > deadline:
                raise TelemetryError(f"{self.server!s} did not send {kind.__name__} to {self.name}.")
            self.pump(PATIENCE_S)

    def pump(self, most_s: float = 0.0) -> None:
        """Receive what comes within ``most_s``, and do what is due."""
        timer = self._peers.channel.next_timer()
        due_s = most_s if timer is None else min(most_s, max(0.0, (timer - time.monotonic_ns()) / SECOND))
        select.select((self._sock,), (), (), due_s)
        self._turn()
        while (received := self._receive()) is not None:
            self._peers.receive(*received)
        self._heard += [message for event in self._peers.events() if (message := self.read(event)) is not None]
        self._flush()

    def _turn(self) -> None:
        self._peers.now = time.monotonic_ns()
        self._peers.channel.handle_timer(self._peers.now)

    def _receive(self) -> tuple[bytes, Address] | None:
        try:
            data, source = self._sock.recvfrom(65_535)
        except BlockingIOError:
            return None
        return data, (source[0], source[1])

    def _flush(self) -> None:
        for data, address in self._peers.channel.datagrams_to_send():
            self._sock.sendto(data, address)


One = TypeVar("One", bound=Speaker[Any])


@contextmanager
def closing(speakers: Sequence[One]) -> Iterator[Sequence[One]]:
    try:
        yield speakers
    finally:
        for one in speakers:
            one.close()


def rested(what: str, seconds: float) -> str:
    return f"{what}, rested {1_000 * seconds:g} ms"


def rested_us(server: Running, act: Any, rest_s: float, times: int, speakers: Sequence[Speaker[Any]] = ()) -> float:
    """Of one ``act`` after a sleep: the median, so that what the server does once a second does not count. Between
    two, ``speakers`` acknowledge what they heard, so that nothing is sent again."""
    spent = []
    for _ in range(times):
        for one in speakers:
            one.pump(ACKNOWLEDGED_S / len(speakers))
        time.sleep(rest_s)
        before = server.processor_ns()
        act()
        time.sleep(SETTLED_S)
        spent.append(server.processor_ns() - before)
    return median(spent) / 1_000
