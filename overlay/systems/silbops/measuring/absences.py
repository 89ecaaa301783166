"""When clients were away, and when links or brokers were down. Times are µs."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from overlay.core.processes import role_of
from overlay.journal.facts import Event
from overlay.systems.silbops.names import BROKER
from overlay.systems.silbops.rows import Served

REPAIRED_US = 10_000_000
"""After the end of a fault: sessions are found to have ended, begin again, and tables are told."""
_DISTURBING = frozenset(("partition", "slow", "lossy", "impaired", "kill", "restart", "vanish"))


class Span(NamedTuple):
    from_us: float
    until_us: float

    def meets(self, from_us: float, until_us: float) -> bool:
        return self.from_us <= until_us and from_us <= self.until_us


class Absences:
    """Of one client: between two brokers that served it, and after the last."""

    def __init__(self, served: Iterable[Served]) -> None:
        ordered = sorted(served, key=lambda one: one.from_us)
        gaps = [Span(one.until_us, after.from_us) for one, after in pairwise(ordered) if one.until_us]
        if ordered and ordered[-1].until_us:
            gaps.append(Span(ordered[-1].until_us, float("inf")))
        self._gaps: Sequence[Span] = [gap for gap in gaps if gap.until_us > gap.from_us]
        self._from = [gap.from_us for gap in self._gaps]

    def during(self, from_us: float, until_us: float) -> Span | None:
        """The last one that meets this time."""
        place = bisect_right(self._from, until_us) - 1
        return self._gaps[place] if place >= 0 and self._gaps[place].meets(from_us, until_us) else None


class Faults:
    """Links and brokers that were down, of the whole network."""

    def __init__(self, events: Iterable[Event]) -> None:
        self._spans = [span for event in events if (span := _fault(event)) is not None]

    def meet(self, from_us: float, until_us: float) -> bool:
        return any(span.meets(from_us, until_us) for span in self._spans)


def _fault(event: Event) -> Span | None:
    if event.name == "fault_began" and event.detail.get("what") in _DISTURBING:
        return Span(event.at_us, _end(event.at_us, event.detail) + REPAIRED_US)
    is_process = event.name in ("process_ended", "process_started")
    if is_process and role_of(str(event.detail.get("process", ""))) == BROKER:
        return Span(event.at_us, event.at_us + REPAIRED_US)
    if event.name == "NeighbourLost":
        return Span(event.at_us, event.at_us + REPAIRED_US)
    return None


def _end(at_us: float, fault: dict[str, Any]) -> float:
    """Of a fault: those without an end last."""
    if fault.get("until_s") is None:
        return at_us if fault.get("what") == "restart" else float("inf")
    return at_us + (float(fault["until_s"]) - float(fault["at_s"])) * 1e6
