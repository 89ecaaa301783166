"""The clients of one process."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from overlay.core.addresses import Address
from overlay.load.tally import Tally
from overlay.load.windows import Windows
from overlay.systems.contextnet.load.draws import draws
from overlay.systems.contextnet.load.nodes import Node
from overlay.systems.contextnet.load.one_socket import OneSocket
from overlay.systems.contextnet.load.plans import ClientPlan
from overlay.systems.contextnet.load.shared import Shared
from overlay.systems.contextnet.names import NODE
from overlay.systems.contextnet.rows import Planned
from overlay.systems.contextnet.settings import Settings
from overlay.systems.contextnet.tracing import Tracer
from overlay.systems.contextnet.transport.budget import Budget
from overlay.systems.contextnet.workload import ONE, Workload


class Fleet:
    """``gateways``: their addresses by index."""

    def __init__(
        self,
        plans: Sequence[ClientPlan],
        gateways: Sequence[Address],
        settings: Settings,
        workload: Workload,
        windows: Windows,
        *,
        seed: int,
        secret: bytes,
        wall_offset_ns: int,
    ) -> None:
        """``secret``: of the network."""
        self.tally = Tally()
        self.tally.counters = counters = Counter(self.tally.counters)
        budget = Budget(settings.repeat_share if settings.bound_repeats else None)
        self._shared = Shared(
            settings,
            workload,
            windows,
            gateways,
            secret,
            seed,
            wall_offset_ns,
            self.tally,
            counters,
            draws(workload, seed),
            budget,
            Tracer(settings.trace_one_in),
        )
        self._each: list[Any] = [_client(plan, self._shared) for plan in plans]
        numbers = sorted(self._shared.draws.disconnecting.intersection(plan.number for plan in plans))
        has_nodes = bool(plans) and plans[0].role == NODE
        if has_nodes:
            self._each[0].report(Planned(list(workload.capacities), settings.round_s, numbers), windows.start)
        is_one = has_nodes and workload.fleet_sockets == ONE
        self.clients: list[Any] = [OneSocket(self._each, self._shared)] if is_one else self._each

    def set_wall_clock(self, offset_ns: int) -> None:
        for client in self._each:
            client.set_wall_clock(offset_ns)


def _client(plan: ClientPlan, shared: Shared) -> Any:
    if plan.role == NODE:
        return Node(plan, shared)
    from overlay.systems.contextnet.load.applications import Application

    return Application(plan, shared)
