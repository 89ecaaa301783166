"""What the clients of one process have in common."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import NamedTuple

from overlay.core.addresses import Address
from overlay.core.node import MILLISECOND, SECOND
from overlay.systems.federation.settings import Settings

MULTICAST: Address = ("239.255.77.1", 17_771)
"""Where DISCOVER goes on real networks, with hop limit 1 (seed 001, section 9)."""
MOST_REQUESTS = 1_024
"""Requests of a client without an answer."""
PATIENCE = 30 * SECOND
"""For the answer to a request that has no deadline of its own."""
_MANUAL = "manual"


class Site(NamedTuple):
    """A broker that a client may register at, or another peer."""

    id: str
    address: Address


NOWHERE = Site("", ("", 0))
"""Where a client begins that is to look for a broker first."""


@dataclass(slots=True)
class Terms:
    """Shared, so that a client keeps only what is its own."""

    settings: Settings
    wall_offset_ns: int
    """Unix nanoseconds minus ``now``."""
    service: Address | None = None
    """The registration service, for discovery ``bdrs``."""
    group: tuple[Address, ...] = (MULTICAST,)
    """Where DISCOVER goes; in virtual time, which has no multicast, the brokers of the site."""
    key: bytes | None = None
    """Of a sealed network."""
    most_requests: int = MOST_REQUESTS
    counters: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    """Of ``Peers``, for all clients together, and ``dropped_REASON``."""
    keepalive_every: int = field(init=False)
    """f·Δ, ns."""
    registering: int = field(init=False)
    """Longest wait for the answer to REGISTER: by then the broker would have removed the client again."""
    give_up: int = field(init=False)
    slowest: int = field(init=False)
    """Longest pause between attempts to reach a broker."""

    def __post_init__(self) -> None:
        settings = self.settings
        self.keepalive_every = round(settings.keepalive_share * settings.keepalive_s * SECOND)
        self.give_up = round(settings.give_up_s * SECOND)
        self.registering = max(round(2 * settings.keepalive_s * SECOND), 2 * self.give_up)
        self.slowest = max(SECOND, round(settings.keepalive_s * SECOND / 2))

    @property
    def discovers(self) -> bool:
        """Whether another broker is looked for when the own one is unreachable."""
        return self.settings.discovery != _MANUAL

    def wall_ms(self, now: int) -> int:
        """Unix milliseconds."""
        return (now + self.wall_offset_ns) // MILLISECOND

    def at_wall_ms(self, wall_ms: int) -> int:
        """The first ``now`` at which ``wall_ms`` has come."""
        return wall_ms * MILLISECOND - self.wall_offset_ns

    def pause(self, failures: int) -> int:
        """Before another attempt, after so many in a row have failed (ns): none, 1 s, 2 s, 4 s, …"""
        return 0 if failures <= 1 else min(self.slowest, SECOND << min(failures - 2, 20))
