"""What the clients of one process share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from overlay.core.addresses import Address
from overlay.load.tally import Tally
from overlay.load.windows import Windows
from overlay.systems.contextnet.load.draws import Draws
from overlay.systems.contextnet.settings import Settings
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
    index_of: dict[Address, int] = field(init=False)
    """Of gateways, by address."""

    def __post_init__(self) -> None:
        self.index_of = {address: index for index, address in enumerate(self.gateways)}

    def us(self, now: int) -> int:
        """Microseconds since the zero of the deployment."""
        return (now - self.windows.zero) // US

    def phase(self, at: int) -> str:
        return "measuring" if at >= self.windows.measuring else "warming"
