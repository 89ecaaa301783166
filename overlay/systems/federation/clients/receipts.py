"""What a consumer has received and what has ended, to tell duplicates and spurious notifications apart."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from overlay.core.node import SECOND
from overlay.systems.federation.clients.events import End, Verdict
from overlay.systems.federation.wire.values import NotificationId

MEMORY = 120 * SECOND
MOST = 65_536
"""Of each kind, as brokers remember notifications (seed 001, section 2)."""
LATENESS = 10 * SECOND
"""After a subscription ended by itself, what was sent before may still come."""


class _Recent:
    """Keys with an instant and a value; the oldest go."""

    __slots__ = ("_at",)

    def __init__(self) -> None:
        self._at: dict[Hashable, tuple[int, Any]] = {}

    def __len__(self) -> int:
        return len(self._at)

    def put(self, key: Hashable, value: Any, now: int) -> None:
        known = self._at
        known.pop(key, None)
        known[key] = now, value
        while len(known) > MOST or known[next(iter(known))][0] < now - MEMORY:
            del known[next(iter(known))]

    def get(self, key: Hashable) -> tuple[int, Any] | None:
        return self._at.get(key)


class Receipts:
    __slots__ = ("_ended", "_received")

    def __init__(self) -> None:
        self._received = _Recent()
        """By notification and subscription: how often."""
        self._ended = _Recent()
        """By the number of the subscription: why."""

    def ended(self, number: int, end: End, now: int) -> None:
        self._ended.put(number, end, now)

    def received(self, nid: NotificationId, number: int, now: int) -> int:
        """Which copy this is, for this subscription: 1 for the first."""
        known = self._received.get((nid, number))
        copy = 1 if known is None else known[1] + 1
        self._received.put((nid, number), copy, now)
        return copy

    def verdict_without(self, number: int, now: int) -> Verdict:
        """Of a first notification for a subscription that is not live."""
        known = self._ended.get(number)
        is_late = known is not None and known[1] in (End.EXPIRED, End.WITHDRAWN) and now - known[0] <= LATENESS
        return Verdict.LATE if is_late else Verdict.SPURIOUS

    def check_invariants(self) -> None:
        assert len(self._received) <= MOST and len(self._ended) <= MOST
