"""Times of faults that are drawn for each run, so that replicates see them at other phases of keep-alives. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from overlay.core.chance import Stream, derive_seed
from overlay.faults.faults import Fault

SPREAD = "spread_s"


def drawn(faults: Iterable[Fault], seed: int) -> tuple[Fault, ...]:
    """Each with ``spread_s`` begins, and ends, later by a time drawn from 0 to that."""
    return tuple(_drawn(fault, seed, place) for place, fault in enumerate(faults))


def _drawn(fault: Fault, seed: int, place: int) -> Fault:
    spread = fault.values.get(SPREAD, 0.0)
    if not spread:
        return fault
    later = spread * Stream(derive_seed(seed, "fault", place)).random()
    until = None if fault.until_s is None else fault.until_s + later
    return replace(fault, at_s=fault.at_s + later, until_s=until)
