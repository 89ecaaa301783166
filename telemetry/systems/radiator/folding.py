"""Long chains, of which some hops are shown: the first, the last, and those where something happened. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from telemetry.systems.radiator.ways import DELIVERED, Hop


@dataclass(frozen=True, slots=True)
class Gap:
    """Hops that are folded."""

    first: int
    last: int
    """Positions."""
    delivered: int
    shortest_us: int | None
    longest_us: int | None

    @property
    def count(self) -> int:
        return self.last - self.first + 1


MOST_DRAWN = 36
HEAD, TAIL, AROUND = 8, 3, 1
"""Hops that are drawn at the beginning, at the end, and on each side of one where something happened."""


def folded(hops: Sequence[Hop], most: int = MOST_DRAWN) -> list[Hop | Gap]:
    """At most ``most`` of the hops, and what is between them."""
    last = len(hops) - 1
    wanted = dict.fromkeys([*range(min(HEAD, last + 1)), *range(max(0, last - TAIL + 1), last + 1)])
    if len(hops) <= most:
        wanted = dict.fromkeys(range(len(hops)))
    for hop in hops:
        if len(wanted) >= most - 2 * AROUND:
            break
        if hop.is_marked:
            wanted |= dict.fromkeys(range(max(0, hop.position - AROUND), min(last, hop.position + AROUND) + 1))
    found: list[Hop | Gap] = []
    next_position = 0
    for position in sorted(wanted):
        if position > next_position:
            found.append(_gap(hops[next_position:position]))
        found.append(hops[position])
        next_position = position + 1
    return found


def _gap(hops: Sequence[Hop]) -> Gap:
    times = [hop.took_us for hop in hops if hop.took_us is not None]
    delivered = sum(hop.state == DELIVERED for hop in hops)
    ends = hops[0].position, hops[-1].position
    return Gap(*ends, delivered, min(times, default=None), max(times, default=None))
