"""A client of the federation, message by message."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from random import SystemRandom
from typing import Any

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
from telemetry.calibration import speaking as common
from telemetry.calibration.live import Standing

HOUR_MS = 3_600_000
PAYLOAD = "x" * 400
"""Of a notification, as in E1.1."""


class Speaker(common.Speaker[str]):
    def __init__(self, name: str, server: str, standing: Standing, settings: Settings) -> None:
        """``server``: its name in messages."""
        peers = Peers(name, settings, SystemRandom(), time.time_ns() - time.monotonic_ns())
        super().__init__(name, server, standing, peers)
        self._loose = peers
        self._registration = 0

    def read(self, event: Any) -> Any | None:
        return event.message if isinstance(event, HeardLoose) else super().read(event)

    def refusal(self, message: Any) -> str:
        return message.words if isinstance(message, m.Nack) else ""

    def say_loose(self, message: m.Discover) -> None:
        self._loose.send_loose(self.address, message)
        self._flush()

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
    with common.closing([Speaker(name, server, standing, settings) for name in names]) as found:
        yield [*found]
