"""A hop whose client is reached by another transport: a push is acknowledged when the client has confirmed it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from overlay.core.addresses import Address
from overlay.core.errors import WireError
from overlay.systems.radiator.chains.hop import Hop
from overlay.systems.radiator.wire import messages as m
from overlay.systems.radiator.wire.proofs import mac_of

MOST_HELD = 64
"""Pushes that wait for a client; further ones are left to be repeated."""
Relay = Callable[[m.Push, bytes], None]
"""Called with the header and the body of a push, whose MAC is over that body; ``settle`` must follow."""


class RelayedHop(Hop):
    """Direct pushes only: its client is in no chain."""

    def __init__(self, *arguments: Any, relay: Relay, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self._relay = relay
        self._held: dict[tuple[int, int], tuple[m.Push, Address]] = {}
        """By epoch and propagation: those that the client has neither confirmed nor refused."""

    @property
    def admission(self) -> tuple[int, bytes]:
        """Epoch and group key of the last registration."""
        return self._epoch, self._key

    def _receive_blob(self, push: m.Push, blob: bytes, source: Address, now: int) -> None:
        key = push.epoch, push.propagation
        try:
            opened, _ = self._open(push, blob)
            self._read(opened.body)
        except WireError:
            self.counts["refused"] += 1
            return
        if push.chain != m.DIRECT:
            self.counts["refused"] += 1
        elif key not in self._held and len(self._held) < MOST_HELD:
            self._held[key] = push, source
            mac = mac_of(self._key, push.epoch, push.propagation, push.chain, opened.body)
            self._relay(push._replace(mac=mac), opened.body)

    def settle(self, epoch: int, propagation: int, now: int, *, is_received: bool) -> None:
        """The client has it, or did not take it: then a repeat may follow."""
        held = self._held.pop((epoch, propagation), None)
        if held is not None and is_received:
            push, source = held
            self._remember(push, now)
            self.counts["delivered"] += 1
            self._acknowledge(push, source)
