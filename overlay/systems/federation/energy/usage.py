"""What a device did in a run: the record that both models compute from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from overlay.core.node import MILLISECOND
from overlay.systems.federation.energy.constants import PACKETS
from overlay.systems.federation.settings import Settings


class Exchange(NamedTuple):
    """Something that was sent and received over the radio, at one instant."""

    at_ns: int
    """Since the begin of the record."""
    up_bytes: int
    down_bytes: int = 0
    packets: int = PACKETS
    """In both directions."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Raises ``ValueError`` for an exchange outside of the duration, and for negative values."""

    exchanges: Sequence[Exchange]
    """In any order."""
    duration_ns: int
    cpu_ns: int = 0
    """Time that the processor was busy, all cores together."""

    def __post_init__(self) -> None:
        if self.duration_ns < 0 or self.cpu_ns < 0:
            raise ValueError("a duration is negative")
        for one in self.exchanges:
            if not 0 <= one.at_ns <= self.duration_ns:
                raise ValueError(f"an exchange at {one.at_ns} ns is outside of the record of {self.duration_ns} ns")
            if one.up_bytes < 0 or one.down_bytes < 0 or one.packets < 0:
                raise ValueError("bytes or packets of an exchange are negative")


class Energy(NamedTuple):
    """By part, J."""

    radio_j: float
    cpu_j: float

    @property
    def total_j(self) -> float:
        return self.radio_j + self.cpu_j


def cpu_time_ns(settings: Settings, remote: int, local: int, visits: int) -> int:
    """Processor time of a device (details, section 4).

    ``remote``: HTTP exchanges over the radio. ``local``: calls between clients and the broker on the device, at the
    price of ``local_interface``. ``visits``: those of the broker on the device.
    """
    call_ms = settings.ipc_ms if settings.local_interface == "ipc" else settings.http_ms
    visit_ms = settings.service_ms * settings.mobile_factor
    return round((remote * settings.http_ms + local * call_ms + visits * visit_ms) * MILLISECOND)
