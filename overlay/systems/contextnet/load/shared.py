"""What the clients of one process share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from overlay.core.addresses import Address
from overlay.journal.facts import Row
from overlay.load.tally import Tally
from overlay.load.windows import Windows
from overlay.log.topics import Record
from overlay.systems.contextnet.load.draws import Draws
from overlay.systems.contextnet.rows import row, step
from overlay.systems.contextnet.settings import Settings
from overlay.systems.contextnet.tracing import Tracer
from overlay.systems.contextnet.transport.budget import Budget
from overlay.systems.contextnet.workload import Workload

US = 1_000
"""Nanoseconds."""


@dataclass(slots=True)
class Shared:
    settings: Settings
    workload: Workload
    windows: Windows
    gateways: Sequence[Address]
    secret: bytes
    """Of the network."""
    seed: int
    wall_offset_ns: int
    tally: Tally
    counters: Counter[str]
    """Those of the tally."""
    draws: Draws
    budget: Budget
    tracer: Tracer
    index_of: dict[Address, int] = field(init=False)
    """Of gateways, by address."""

    def __post_init__(self) -> None:
        self.index_of = {address: index for index, address in enumerate(self.gateways)}

    def us(self, now: int) -> int:
        """Microseconds since the zero of the deployment."""
        return (now - self.windows.zero) // US

    def traced(
        self,
        step_name: str,
        id: bytes,
        node: bytes,
        place: str,
        now: int,
        wall_offset_ns: int,
        *,
        topic: str = "",
        record: Record | None = None,
    ) -> list[Row]:
        """A step of ``tracing.STEPS`` at a client, as a row if its node is traced."""
        if not self.tracer.follows(node):
            return []
        self.tracer.note(step_name, id, node, now, topic, record=record)
        wall_us = (self.windows.zero + wall_offset_ns) // US
        return [row(self.us(one.at), step(one, place, wall_us)) for one in self.tracer.take()]

    def phase(self, at: int) -> str:
        return "measuring" if at >= self.windows.measuring else "warming"
