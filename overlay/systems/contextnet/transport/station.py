"""What the connections of an end share, and what they tell it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from overlay.channel.deadlines import Deadlines
from overlay.core.addresses import Address
from overlay.core.chance import Chance
from overlay.core.node import NodeEvent
from overlay.systems.contextnet.transport.budget import Budget
from overlay.systems.contextnet.transport.events import Ending
from overlay.systems.contextnet.transport.receiver import Whole
from overlay.systems.contextnet.transport.settings import TransportSettings

if TYPE_CHECKING:
    from overlay.systems.contextnet.transport.line import Line


class Station:
    """``deadlines`` and ``budget`` can be those of a fleet of nodes, which then is driven as a whole."""

    is_gateway = False

    def __init__(
        self, settings: TransportSettings, chance: Chance, deadlines: Deadlines | None, budget: Budget | None
    ) -> None:
        self.settings, self.chance = settings, chance
        self.deadlines = deadlines or Deadlines()
        self.budget = budget or Budget(settings.repeat_share if settings.bound_repeats else None)
        self.now = 0
        self.out: list[tuple[bytes, Address]] = []
        self.told: list[NodeEvent] = []
        self.counters: Counter[str] = Counter()
        """Datagrams dropped, by reason, and what else is counted."""
        self.is_busy = False
        """Whether our input waits for too long: set by the user, told to the peers."""
        self._ready: dict[Line, None] = {}

    # ---- for the driver

    def next_timer(self) -> int | None:
        return self.deadlines.next()

    def handle_timer(self, now: int) -> None:
        self.now = now
        self.deadlines.ring(now)
        self._flush()

    def datagrams_to_send(self) -> Sequence[tuple[bytes, Address]]:
        out, self.out = self.out, []
        return out

    def events(self) -> Sequence[NodeEvent]:
        told, self.told = self.told, []
        return told

    # ---- for connections

    def draw(self, size: int) -> bytes:
        """Random bytes, a multiple of 8."""
        return b"".join(self.chance.randrange(1 << 64).to_bytes(8, "big") for _ in range(size // 8))

    def make_ready(self, connection: Line) -> None:
        """It may have something to send once all input of this instant is read."""
        self._ready[connection] = None

    def _flush(self) -> None:
        ready, self._ready = self._ready, {}
        for connection in ready:
            connection.flush()

    def arrived(self, connection: Line, whole: Whole) -> None:
        raise NotImplementedError

    def acknowledged(self, connection: Line, tokens: list[object]) -> None:
        raise NotImplementedError

    def expired(self, connection: Line, tokens: list[object]) -> None:
        """These messages were not sent: their time was over before their turn came."""

    def repeating(self, connection: Line) -> None:
        """It has begun to repeat."""

    def confirmed(self, connection: Line) -> None:
        """The first valid packet came."""
        raise NotImplementedError

    def answered(self, connection: Line, value: int) -> None:
        raise NotImplementedError

    def moved(self, connection: Line) -> None:
        raise NotImplementedError

    def broken(self, connection: Line) -> None:
        """It repeated too often, heard nothing for too long, or has used up its packet numbers."""
        raise NotImplementedError

    def closed(self, connection: Line, reason: Ending) -> None:
        """By the peer's CLOSE, or by ours."""
        raise NotImplementedError
