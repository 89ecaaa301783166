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
