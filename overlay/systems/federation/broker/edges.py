"""One edge of the tree, as one of its brokers sees it.

::

             said and heard HELLO                 session lost
    WAITING ──────────────────────> READY ───────────────────────> WAITING, with the tables of before
       ^  │ current                   │                               │ unreachable: without them
       │  └──────── not in the next tree: OLD, only for FORWARD ──────┘
"""

from __future__ import annotations

from dataclasses import dataclass, field

from overlay.core.addresses import Address
from overlay.core.timers import Timers
from overlay.systems.federation.broker.station import Clock
from overlay.systems.federation.broker.store import Store
from overlay.systems.federation.wire.messages import Table


@dataclass(slots=True)
class Edge:
    broker: str
    address: Address
    is_kept: bool
    """Whether its session survives unreachability: one of both brokers is mobile."""
    is_current: bool = True
    """Otherwise it is of an earlier tree."""
    has_said: bool = False
    """Whether HELLO was sent in this session."""
    is_connected: bool = False
    """Whether the tables have it as a neighbour."""
    is_ready: bool = False
    """Whether both have said HELLO in this session, so that it is told of changes."""
    is_quiet: bool = False
    can_forward: bool = False
    """Whether notifications go at once; they are stored otherwise."""
    has_entries: bool = False
    """Of an old edge: whether what came over it still gets notifications."""
    opened_at: int = -(1 << 62)
    """When a session was last tried, ns."""
    owes: set[Table] = field(default_factory=set)
    """Tables that it is to be told whole."""
    told: dict[Table, int] = field(default_factory=lambda: {Table.SUBSCRIPTIONS: 0, Table.REGISTRATIONS: 0})
    """The version that was last sent."""
    known: dict[Table, int] = field(default_factory=dict)
    """The version that last came; none if any may be the next."""
    asked_at: dict[Table, int] = field(default_factory=dict)
    answered_at: dict[Table, int] = field(default_factory=dict)
    must_tell: bool = False
    """Whether registrations changed out of turn while it was told of others."""
    store: Store = field(default_factory=Store)

    def check_invariants(self, timers: Timers, has_session: bool) -> None:
        """Raises ``AssertionError``."""
        has_deadline = (Clock.EDGE, self.broker) in timers
        self.store.check_invariants()
        assert self.is_current or has_deadline
        assert not (self.is_quiet and self.is_connected) or (Clock.STORE, self.broker) in timers
        assert not self.is_ready or (self.is_connected and self.has_said and self.can_forward and not self.is_quiet)
        assert not (self.can_forward and len(self.store))
        assert not self.is_current or has_session or has_deadline, "no session, and no deadline"
