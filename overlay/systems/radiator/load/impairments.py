"""Faults that a client has: it is silent, late, lossy, or crashes at its next push. Counterpart: ``faults``."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from overlay.core.addresses import Address
from overlay.core.chance import Chance
from overlay.core.node import MILLISECOND
from overlay.systems.radiator.wire.messages import Ack, Push
from overlay.systems.radiator.wire.table import KINDS, MAGIC

HEAD = {kind: MAGIC + bytes([KINDS[kind]]) for kind in (Ack, Push)}
Sent = tuple[bytes, Address]


class Impairments:
    """Of one client; ``chance`` draws what is lost."""

    def __init__(self, chance: Chance) -> None:
        self._chance = chance
        self._faults: list[Mapping[str, Any]] = []
        self._waiting: deque[tuple[int, bytes, Address]] = deque()
        self._loss, self._delay = 0.0, 0
        self._is_armed = False
        self.has_crashed = False
        """At a push, since the fault began."""

    def change(self, document: Mapping[str, Any], begins: bool) -> None:
        (self._faults.append if begins else self._faults.remove)(dict(document))
        passing = 1.0
        for fault in self._faults:
            passing *= 1 - (1.0 if fault["what"] == "silent" else fault.get("share", 0.0))
        self._loss = 1 - passing
        self._delay = round(sum(fault.get("by_ms", 0.0) for fault in self._faults) * MILLISECOND)
        self._is_armed = any(fault["what"] == "crash_at_push" for fault in self._faults)
        self.has_crashed = self.has_crashed and self._is_armed

    def receive(self, data: bytes, source: Address, now: int) -> bool:
        """Whether it is received now; it may also be lost, or wait."""
        if not self.may_send():
            return False
        if self._delay or self._waiting:
            self._waiting.append((now + self._delay, data, source))
            return False
        return True

    def may_send(self) -> bool:
        return not self._loss or self._chance.random() >= self._loss

    def due(self, now: int) -> Iterator[Sent]:
        while self._waiting and self._waiting[0][0] <= now:
            _, data, source = self._waiting.popleft()
            yield data, source

    def next_timer(self) -> int | None:
        return self._waiting[0][0] if self._waiting else None

    def clear(self) -> None:
        self._waiting.clear()

    def crashes_at_push(self, outgoing: Sequence[Sent]) -> bool:
        """Whether it crashes instead of forwarding what it has acknowledged."""
        if self._is_armed and not self.has_crashed:
            self.has_crashed = any(data.startswith(HEAD[Push]) for data, _ in outgoing)
            return self.has_crashed
        return False

    def acknowledgements(self, outgoing: Sequence[Sent]) -> list[Sent]:
        return [(data, to) for data, to in outgoing if data.startswith(HEAD[Ack])]
