"""What the rooms of a broker share: its messages, its tables, one heap of deadlines, and what it reports."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from enum import IntEnum

from overlay.core.node import NodeEvent
from overlay.core.timers import Timers
from overlay.systems.federation.broker.neighbour_events import DisappearanceLearned
from overlay.systems.federation.broker.tracing import Tracer
from overlay.systems.federation.covering.kept import Kept
from overlay.systems.federation.covering.merged import Merged
from overlay.systems.federation.names import Routing
from overlay.systems.federation.peers import Peers
from overlay.systems.federation.settings import COVERING, MERGING, OFF, PERFECT, SUPPRESS, Settings
from overlay.systems.federation.tables.tables import Tables
from overlay.systems.federation.wire.values import SubscriptionId


class Clock(IntEnum):
    """Of which room a deadline is: the first part of its key in ``Station.timers``. Smaller ones ring first."""

    CLIENT = 0
    """A registration becomes invalid, or ends: ``(CLIENT, name)``."""
    EXCHANGE = 1
    """Registrations are told to a neighbour: ``(EXCHANGE, name)``; of all, periodically: ``(EXCHANGE, "")``."""
    EDGE = 2
    """An edge of an earlier tree is dropped at the latest: ``(EDGE, name)``."""
    SERVICE = 3
    """The registration service: a keep-alive, or a new session, is due."""
    LINK = 4
    """A candidate link that is down is tried again: ``(LINK, name)``."""
    STORE = 5
    """What is stored for a mobile neighbour is given up: ``(STORE, name)``."""
    BULK = 6
    """Collected subscriptions are sent."""
    ASKED = 7
    """A query has no answer yet: ``(ASKED, number)``."""
    CARRIED = 8
    """What a mobile broker carries is forgotten."""


class Station:
    """``now`` of the call being answered is ``peers.now``."""

    def __init__(self, settings: Settings, peers: Peers, tracer: Tracer | None = None) -> None:
        self.name, self.settings, self.peers = peers.name, settings, peers
        self.is_flooded = settings.cycles == SUPPRESS
        """Whether links may form cycles."""
        covering = {OFF: None, COVERING: Kept, MERGING: self._merged}[settings.covering]
        self.tables = Tables(Routing(settings.routing), covering=covering, is_flooded=self.is_flooded)
        self._last_union = 0
        self.timers = Timers()
        """By ``(Clock, key)``."""
        self.counters: dict[str, int] = defaultdict(int)
        """What is no message: those of messages are ``peers.counters``."""
        self.log: list[NodeEvent] = []
        self.tracer = tracer
        self.arrived = 0
        """When the message being handled had arrived, before it waited for a modelled processor."""
        self.forget_waiting: Callable[[str], None] = lambda broker: None
        """Called for a neighbour that was told all subscriptions: in bulk mode, none waits for it any more."""
        self.superseded: list[str] = []
        """Own clients of which a neighbour tells a newer registration elsewhere; they are removed with the step."""

    @property
    def now(self) -> int:
        return self.peers.now

    def learn(self, name: str, by: str) -> None:
        """This broker was told that a client or broker is gone, by ``regtable`` or ``brokers``."""
        self.log.append(DisappearanceLearned(name, by, at=self.now))

    def _merged(self) -> Merged:
        return Merged(self._draw_union, is_perfect=self.settings.merging == PERFECT)

    def _draw_union(self) -> SubscriptionId:
        """Numbers rise over restarts, as those of clients do: from Unix microseconds."""
        self._last_union = max(self._last_union + 1, 1_000 * self.peers.wall_ms)
        return SubscriptionId(self.name, self._last_union)

    def set_timer(self, clock: Clock, key: str | int, at: int) -> None:
        self.timers.set((clock, key), at)

    def cancel(self, clock: Clock, key: str | int) -> None:
        self.timers.cancel((clock, key))
