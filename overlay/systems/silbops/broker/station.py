"""What the rooms of a broker share: its messages, its tables, one heap of deadlines, and what it reports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Hashable
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from overlay.core.chance import Chance
from overlay.core.node import SECOND, NodeEvent
from overlay.core.timers import Timers
from overlay.systems.silbops.broker.busy import Busy
from overlay.systems.silbops.broker.pressure import Pressure
from overlay.systems.silbops.broker.tracing import Tracer
from overlay.systems.silbops.tables import Tables
from overlay.systems.silbops.wire import messages as m

if TYPE_CHECKING:
    from overlay.systems.silbops.settings import Settings

OWNER_BYTES = 16
PATIENCE = 10 * SECOND
"""With a client whose queue is full: so long, a channel without answers takes to end."""


class Clock(IntEnum):
    """Of which room a deadline is: the first part of its key in ``Station.timers``."""

    AWAY = 0
    """The rows of a client that is away go: ``(AWAY, client)``."""
    VALIDITY = 1
    """A subscription or advertisement ends: ``(VALIDITY, (client, table, id))``."""
    MOVED = 2
    """What is left of a client that has moved goes: ``(MOVED, owner)``."""
    MOVING = 3
    """No TAKE has come: ``(MOVING, client)``."""
    STRANGER = 4
    """A session without ATTACH ends: ``(STRANGER, client)``."""
    EDGE = 5
    """A neighbour is tried again: ``(EDGE, name)``."""
    VISIT = 6
    """A session with a broker that is no neighbour is tried again, or ends: ``(VISIT, name)``."""
    REPEATS = 7
    """Old notifications of a client that has come from elsewhere come no more: ``(REPEATS, client)``."""
    PRUNE = 8
    """A neighbour was long enough without need of a subscription: ``(PRUNE, (link, key))``."""
    FULL = 9
    """The queue of a client is full for long: ``(FULL, client)``."""


class Station:
    """``now`` of the call being answered is ``peers.now``. A peer is a broker's name, or a client's 16 bytes."""

    def __init__(
        self,
        name: str,
        settings: Settings,
        peers: Any,
        brokers: Container[bytes],
        tables: Tables,
        chance: Chance,
        tracer: Tracer | None = None,
    ) -> None:
        """``brokers``: peers that are one."""
        self.name, self.settings, self.peers, self.tables = name, settings, peers, tables
        self._brokers = brokers
        self.pressure = Pressure(peers, settings.channel_queue, brokers, self._full)
        self.timers = Timers()
        """By ``(Clock, key)``."""
        self.counters: Counter[str] = Counter()
        """What is no message: those of messages are ``peers.counters``."""
        self.log: list[NodeEvent] = []
        self.tracer = tracer
        self.busy = Busy()
        self._chance = chance

    @property
    def now(self) -> int:
        now: int = self.peers.now
        return now

    def draw_owner(self) -> bytes:
        return b"".join(self._chance.randrange(1 << 32).to_bytes(4, "big") for _ in range(OWNER_BYTES // 4))

    def _full(self, peer: bytes, is_full: bool) -> None:
        """Its queue is full, or no longer. Neighbours may take as long as they need."""
        if not is_full:
            self.cancel(Clock.FULL, peer)
        elif peer not in self._brokers:
            self.set_timer(Clock.FULL, peer, self.now + PATIENCE)

    def set_timer(self, clock: Clock, key: Hashable, at: int) -> None:
        self.timers.set((clock, key), at)

    def cancel(self, clock: Clock, key: Hashable) -> None:
        self.timers.cancel((clock, key))

    def trace(self, step: str, note: m.Notify, peer: str, detail: str = "") -> None:
        """A step of a notification, if it is traced."""
        if self.tracer is not None:
            self.tracer.note(step, note, peer, self.now, detail)
