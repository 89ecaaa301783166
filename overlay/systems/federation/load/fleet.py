"""The clients of one process."""

from __future__ import annotations

from collections.abc import Sequence

from overlay.core.addresses import Address
from overlay.load.tally import Tally
from overlay.load.windows import Windows
from overlay.systems.federation.clients.terms import Terms
from overlay.systems.federation.load.arrivals import Arrivals, Asked, asked, published
from overlay.systems.federation.load.consuming import Consuming
from overlay.systems.federation.load.plans import ClientPlan
from overlay.systems.federation.load.providing import Providing
from overlay.systems.federation.load.shared import Shared
from overlay.systems.federation.names import CONSUMER, PROVIDER
from overlay.systems.federation.settings import Settings
from overlay.systems.federation.workload import Workload

MOST_OPEN = 1_000_000
"""Requests of a client without an answer: the load is open, so that no answer is waited for."""


class Fleet:
    """``servers``: the brokers by index, and the registration service."""

    def __init__(
        self,
        plans: Sequence[ClientPlan],
        servers: Sequence[Address],
        settings: Settings,
        workload: Workload,
        windows: Windows,
        *,
        seed: int,
        wall_offset_ns: int,
    ) -> None:
        terms = Terms(settings, wall_offset_ns, servers[-1], most_requests=MOST_OPEN)
        self.tally = Tally()
        roles = {plan.role for plan in plans}
        shared = self._shared = Shared(
            settings,
            workload,
            windows,
            servers,
            terms,
            seed,
            self.tally,
            asked(workload, seed) if CONSUMER in roles else Asked(workload, seed, ()),
            published(workload, seed) if PROVIDER in roles else Arrivals((), ()),
            {"v": "x" * workload.payload_bytes},
        )
        self.clients = [Providing(plan, shared) if plan.role == PROVIDER else Consuming(plan, shared) for plan in plans]

    def set_wall_clock(self, offset_ns: int) -> None:
        self._shared.set_wall_clock(offset_ns)
