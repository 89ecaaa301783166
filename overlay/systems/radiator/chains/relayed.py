"""A hop whose client is reached by another transport: a push is acknowledged when the client has confirmed it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from overlay.core.addresses import Address
from overlay.core.errors import WireError
from overlay.core.node import SECOND
from overlay.core.timers import earliest
from overlay.systems.radiator.chains.blobs import Opened
from overlay.systems.radiator.chains.hop import Hop
from overlay.systems.radiator.wire import messages as m

MOST_HELD = 64
"""Pushes that wait for a client; further ones are left to be repeated."""
MOST_REPORTS = 64
"""Of a client, not noted by the server yet."""
HOLD = 10 * SECOND
"""After which a push is no longer waited for: its sender has given up."""
Relay = Callable[[m.Push, Opened], bool]
"""Called with the header and the contents of a push. Returns whether it is taken; then ``settle`` should follow."""


class Held(NamedTuple):
    """A push that the client has neither confirmed nor refused."""

    push: m.Push
    source: Address
    expires_at: int


class RelayedHop(Hop):
    """Its client forwards by itself, and reports through ``report``."""

    def __init__(self, *arguments: Any, relay: Relay, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._relay = relay
        self._held: dict[tuple[int, ...], Held] = {}
        """By epoch, propagation, chain and attempt, the oldest first."""

    @property
    def admission(self) -> tuple[int, bytes]:
        """Epoch and group key of the last registration."""
        return self._epoch, self._key

    @property
    def held(self) -> int:
        return len(self._held)

    def admit(self, id: str, epoch: int, key: bytes) -> None:
        if epoch != self._epoch:
            self._held.clear()
        super().admit(id, epoch, key)

    def leave(self) -> None:
        super().leave()
        self._held.clear()

    def _receive_blob(self, push: m.Push, blob: bytes, source: Address, now: int) -> None:
        key = _key(push)
        if key in self._held:
            return
        try:
            opened, _ = self._open(push, blob, source)
            self._read(opened.body)
        except WireError:
            self.counts["refused"] += 1
            return
        if len(self._held) < MOST_HELD:
            self._held[key] = Held(push._replace(part=b""), source, now + HOLD)
            if self._relay(push._replace(part=b""), opened):
                return
            self._held.pop(key, None)
        self.counts["left"] += 1

    def settle(self, push: m.Push, now: int, *, is_received: bool) -> None:
        """The client has it, or did not take it: then a repeat may follow."""
        held = self._held.pop(_key(push), None)
        if held is not None and is_received:
            self.counts["delivered" if self._remember(held.push, now) else "duplicates_suppressed"] += 1
            self._acknowledge(held.push, held.source)

    def report(self, report: m.Report, server: Address, now: int) -> bool:
        """What the client says of a chain. Returns whether there is room for it; it is repeated until NOTED."""
        if len(self._reports) >= MOST_REPORTS:
            return False
        self._reports.begin(report, server, now)
        return True

    def handle_timer(self, now: int) -> None:
        super().handle_timer(now)
        while (timer := self._expires_at()) is not None and timer <= now:
            del self._held[next(iter(self._held))]

    def next_timer(self) -> int | None:
        return earliest(super().next_timer(), self._expires_at())

    def _expires_at(self) -> int | None:
        held = next(iter(self._held.values()), None)
        return None if held is None else held.expires_at

    def check_invariants(self) -> None:
        super().check_invariants()
        assert len(self._held) <= MOST_HELD
        assert all(held.push.epoch == self._epoch and not held.push.part for held in self._held.values())


def _key(push: m.Push) -> tuple[int, ...]:
    return push.epoch, push.propagation, push.chain, push.attempt
