"""The live subscriptions of a consumer: neither satisfied (queries), expired, withdrawn nor refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from overlay.core.timers import Timers
from overlay.systems.federation.language.compiler import Test, compiled
from overlay.systems.federation.language.tree import EVERYTHING, Expression
from overlay.systems.federation.wire.values import Notification, Priority, Subscription


class Wanted(NamedTuple):
    """What to subscribe to."""

    scopes: tuple[str, ...]
    expires: int
    """Unix ms."""
    expression: Expression = EVERYTHING
    priority: Priority = Priority.NORMAL
    once: bool = False
    """A query: it ends with its first notification."""


class Live:
    __slots__ = ("_test", "is_told", "subscription")

    def __init__(self, subscription: Subscription) -> None:
        self.subscription = subscription
        self.is_told = False
        """Whether it was ever sent to a broker."""
        self._test: Test | None = None

    def is_satisfied_by(self, notification: Notification) -> bool:
        if notification.scope not in self.subscription.scopes:
            return False
        self._test = self._test or compiled(self.subscription.expression)
        return self._test(notification)


class LiveSubscriptions:
    """By number. Takes no memory but its own while there are none."""

    __slots__ = ("_by_number", "_expiries")

    def __init__(self) -> None:
        self._by_number: dict[int, Live] | None = None
        self._expiries: Timers | None = None
        """Instants are wall ms."""

    def __len__(self) -> int:
        return len(self._by_number) if self._by_number else 0

    def __iter__(self) -> Iterator[Live]:
        return iter(() if self._by_number is None else self._by_number.values())

    def get(self, number: int) -> Live | None:
        return None if self._by_number is None else self._by_number.get(number)

    def keep(self, one: Live) -> None:
        """Also when it was renewed."""
        if self._by_number is None or self._expiries is None:
            self._by_number, self._expiries = {}, Timers()
        number = one.subscription.id.number
        self._by_number[number] = one
        self._expiries.set(number, one.subscription.expires)

    def take(self, number: int) -> Live | None:
        """It is live no more. ``None``: it was not."""
        if self._by_number is None or self._expiries is None or number not in self._by_number:
            return None
        one = self._by_number.pop(number)
        self._expiries.cancel(number)
        if not self._by_number:
            self._by_number = self._expiries = None
        return one

    def expired(self, wall_ms: int) -> list[int]:
        """The numbers of those that are to be taken."""
        return [] if self._expiries is None else list(self._expiries.due(wall_ms))

    def next_expiry(self) -> int | None:
        """Wall ms."""
        return None if self._expiries is None else self._expiries.next_timer()

    def check_invariants(self) -> None:
        assert (self._by_number is None) == (self._expiries is None)
        if self._by_number is not None and self._expiries is not None:
            assert self._by_number and set(self._by_number) == set(self._expiries)
