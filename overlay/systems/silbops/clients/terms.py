"""What the clients of one process have in common."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from overlay.core.addresses import Address
from overlay.core.node import SECOND
from overlay.systems.silbops.settings import ADD_FIRST, Settings

ATTACHING = 10 * SECOND
"""Longest wait for ATTACHED. A broker waits 5 s for what another one has of the client."""
LEAVING = 5 * SECOND
"""Longest wait for the end of a session that is closed."""
PATIENCE = 60 * SECOND
"""Longest silence of a broker that has requests to answer."""
GIVE_UP = 120 * SECOND
"""Of attempts to reach a broker, at least."""
SLOWEST = 10 * SECOND
"""Longest pause between them."""


class Site(NamedTuple):
    """A broker."""

    broker: str
    address: Address


class Former(NamedTuple):
    """What an earlier process of the same client has left behind."""

    broker: str = ""
    """The last one that served it; empty: none did."""
    last: int = 0
    """Its requests and publications had numbers up to this one."""


NEW = Former()


@dataclass(slots=True)
class Terms:
    """Shared, so that a client keeps only what is its own."""

    is_siena: bool = False
    adds_first: bool = False
    """Whether siena subscribes to a new filter before it unsubscribes from the old one."""
    has_publisher_scope: bool = False
    """Whether publishers may name variables of subscribers, and send functions of them."""
    ttl_ms: int = 0
    """Validity of what is set without one; 0: none."""
    handover: int = 5 * SECOND
    """So long, after a move, the old broker passes on what still comes there."""
    give_up: int = GIVE_UP
    most_waiting: int = 10_000
    """Messages that no broker has answered or taken. Further calls are refused."""
    most_objects: int = 100_000
    """Subscriptions of a client, and advertisements."""
    counters: Counter[str] = field(default_factory=Counter)
    """``repeats``: notifications that came again; ``dropped_REASON``: messages that change nothing."""

    @classmethod
    def of(cls, settings: Settings) -> Terms:
        return cls(
            is_siena=settings.is_siena,
            adds_first=settings.siena_change == ADD_FIRST,
            has_publisher_scope=settings.has_publisher_scope,
            ttl_ms=round(1_000 * settings.ttl_s),
            handover=round(settings.handover_s * SECOND),
            give_up=max(GIVE_UP, round(settings.keep_s * SECOND)),
        )

    def pause(self, failures: int) -> int:
        """Before another attempt, after so many in a row have failed (ns): none, 1 s, 2 s, 4 s, …"""
        return 0 if failures <= 1 else min(SLOWEST, SECOND << min(failures - 2, 20))
