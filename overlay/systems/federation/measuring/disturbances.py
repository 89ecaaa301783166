"""When losses are excused: around crashes, links given up, and repairs of the tree (seed 001, section 12).

A disturbance at an instant excuses what is in flight then, and what comes after it until the way is shown to work
again, at the latest ``REPAIRED_US`` after the disturbance has ended.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from overlay.core.processes import role_of
from overlay.journal.facts import Event
from overlay.systems.federation.names import BDRS, BROKER

FLIGHT_US = 5_000_000
"""The longest way of a notification; ``give_up_s`` of the channel by default."""
REPAIRED_US = 60_000_000
"""2 Δx_k + 2 ΔX_R by default, the bound of the seed for a settled state."""

CRASH, LINK, REPAIR, MOVED = "crash", "link", "repair", "moved"
_CAUSES = {
    **dict.fromkeys(("kill", "restart", "vanish"), CRASH),
    **dict.fromkeys(("partition", "slow", "lossy", "impaired"), LINK),
    **dict.fromkeys(("move", "offline"), MOVED),
}
"""By kind of fault."""
REPAIRS = frozenset({"TreeChanged", "NeighbourConnected", "NeighbourAway", "NeighbourLost"})
"""Events of brokers when the tree changes, and until tables are told over it."""


@dataclass(frozen=True, slots=True)
class Disturbance:
    at_us: int
    until_us: float
    """From when on the way must work again in any case."""
    cause: str


class Disturbances:
    def __init__(self, events: Iterable[Event]) -> None:
        """``events`` in the order of their times."""
        self._found = sorted(_disturbances(list(events)), key=lambda one: one.at_us)
        self._at = [one.at_us for one in self._found]

    def in_flight(self, at_us: int) -> str:
        """The cause of a disturbance after ``at_us`` that may have met what was sent then; empty: none."""
        place = bisect_right(self._at, at_us)
        is_near = place < len(self._at) and self._at[place] <= at_us + FLIGHT_US
        return self._found[place].cause if is_near else ""

    def before(self, at_us: int) -> Disturbance | None:
        """The last one that still excuses at ``at_us``."""
        earlier = self._found[: bisect_right(self._at, at_us)]
        return next((one for one in reversed(earlier) if at_us <= one.until_us), None)


def _disturbances(events: list[Event]) -> Iterator[Disturbance]:
    for event in events:
        if event.name == "fault_began" and (cause := _CAUSES.get(str(event.detail.get("what")))):
            yield Disturbance(event.at_us, _end(event.at_us, event.detail) + REPAIRED_US, cause)
        elif event.name == "fault_ended" and (cause := _CAUSES.get(str(event.detail.get("what")))):
            yield Disturbance(event.at_us, event.at_us + REPAIRED_US, cause)
        elif event.name in ("process_ended", "process_started") and _is_of_server(event):
            yield Disturbance(event.at_us, event.at_us + REPAIRED_US, CRASH)
        elif event.name in REPAIRS:
            yield Disturbance(event.at_us, event.at_us + REPAIRED_US, REPAIR)


def _end(at_us: int, fault: dict[str, Any]) -> float:
    """Of a fault: those without an end last."""
    if fault.get("until_s") is None:
        return at_us if fault.get("what") in ("restart", "move") else float("inf")
    return at_us + (float(fault["until_s"]) - float(fault["at_s"])) * 1e6


def _is_of_server(event: Event) -> bool:
    return role_of(str(event.detail.get("process", ""))) in (BROKER, BDRS)
