"""A client with a socket, message by message, so that it is known what a server had to do."""

from __future__ import annotations

import select
import socket
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from random import SystemRandom
from typing import TypeVar

from overlay.core.addresses import Address
from overlay.core.node import SECOND
from overlay.peers.peers import Heard
from overlay.systems.federation.peers import HeardLoose, Peers
from overlay.systems.federation.settings import Settings
from overlay.systems.federation.wire import messages as m
from overlay.systems.federation.wire.values import (
    Advertisement,
    Notification,
    NotificationId,
    Publication,
    Role,
    Subscription,
    SubscriptionId,
)
from telemetry.calibration.live import Standing
from telemetry.errors import TelemetryError

PATIENCE_S = 5.0
HOUR_MS = 3_600_000
PAYLOAD = "x" * 400
"""Of a notification, as in E1.1."""
Answer = TypeVar("Answer", bound=m.Message)


class Speaker:
    """One client of a server. Raises ``TelemetryError`` where an answer does not come."""

    def __init__(self, name: str, server: str, standing: Standing, settings: Settings) -> None:
        """``server``: its name in messages."""
        self.name, self.server, self.address = name, server, standing.address
        self._sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._sock.bind(("127.0.0.1", 0))
        self._sock.setblocking(False)
        self._peers = Peers(name, settings, SystemRandom(), time.time_ns() - time.monotonic_ns())
        self._heard: deque[m.Message] = deque()
        self._registration = 0
        self._numbers = count(time.time_ns() // 1_000)
        self._peers.now = time.monotonic_ns()
        self._peers.open(server, self.address)

    def close(self) -> None:
        self._sock.close()

    def draw(self) -> int:
        """A number above all earlier ones."""
        return next(self._numbers)

    # ---- messages

    def say(self, *messages: m.Message) -> None:
        """In one datagram, if they fit."""
        self._turn()
        for one in messages:
            self._peers.send(self.server, one)
        self._flush()

    def say_loose(self, message: m.Discover) -> None:
        self._peers.send_loose(self.address, message)
        self._flush()

    def hear(self, kind: type[Answer]) -> Answer:
        """The next message of this kind; others are skipped."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            while self._heard:
                found = self._heard.popleft()
                if isinstance(found, kind):
                    return found
                if isinstance(found, m.Nack):
                    raise TelemetryError(f"{self.server} refused a message of {self.name}: {found.words}.")
            if time.monotonic() > deadline:
                raise TelemetryError(f"{self.server} did not send {kind.__name__} to {self.name}.")
            self.pump(PATIENCE_S)

    def pump(self, most_s: float = 0.0) -> None:
        """Receive what comes within ``most_s``, and do what is due."""
        timer = self._peers.channel.next_timer()
        due_s = most_s if timer is None else min(most_s, max(0.0, (timer - time.monotonic_ns()) / SECOND))
        select.select((self._sock,), (), (), due_s)
        self._turn()
        while (received := self._receive()) is not None:
            self._peers.receive(*received)
        self._heard += [event.message for event in self._peers.events() if isinstance(event, Heard | HeardLoose)]
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

    # ---- what clients do

    def register(self, *scopes: str) -> None:
        """As a provider of these scopes; without any, as a consumer."""
        role = Role.PROVIDER if scopes else Role.CONSUMER
        self._registration = self.draw()
        self.say(m.Register(self.draw(), Advertisement(self.name, self._registration, role, "", scopes)))
        self.hear(m.Ack)

    def lookup(self, times: int = 1, keepalives: int = 0) -> None:
        """Of a scope that nobody provides, with KEEPALIVEs before them, in one datagram."""
        self.say(
            *keepalives * [m.KeepAlive(self._registration)], *(m.Lookup(self.draw(), "nowhere") for _ in range(times))
        )
        for _ in range(times):
            self.hear(m.Found)

    def discover(self, times: int = 1) -> None:
        """Outside sessions."""
        for _ in range(times):
            self.say_loose(m.Discover(self.draw()))

    def subscription(self, scope: str) -> Subscription:
        return Subscription(SubscriptionId(self.name, self.draw()), (scope,), self._now_ms() + HOUR_MS)

    def subscribe(self, added: Subscription, *removed: SubscriptionId) -> Subscription:
        self.say(m.Subscribe(self.draw(), (added,), removed))
        self.hear(m.Ack)
        return added

    def publication(self, scope: str) -> m.Publish:
        """Of an entity of its own, valid for a second, so that tables stay small."""
        now, number = self._now_ms(), self.draw()
        note = Notification(
            NotificationId(self.name, number), "room", "r1", scope, now, now + 1_000, {"value": PAYLOAD}
        )
        return m.Publish(number, (Publication(note, ()),))

    def publish(self, scope: str) -> None:
        self.say(self.publication(scope))
        self.hear(m.Ack)

    def _now_ms(self) -> int:
        return time.time_ns() // 1_000_000


@contextmanager
def speaking(server: str, standing: Standing, settings: Settings, names: list[str]) -> Iterator[list[Speaker]]:
    """Clients of one server."""
    found = [Speaker(name, server, standing, settings) for name in names]
    try:
        yield found
    finally:
        for one in found:
            one.close()
