"""Which brokers served a client when, and when it was away. Times are µs."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, zip_longest
from typing import NamedTuple

from overlay.systems.silbops.rows import Served


class Span(NamedTuple):
    from_us: float
    until_us: float

    def meets(self, from_us: float, until_us: float) -> bool:
        return self.from_us <= until_us and from_us <= self.until_us


class Absences:
    """Of one client: between two brokers that served it, and after the last. A move may take no time; what the broker
    before had not delivered by then is passed on all the same."""

    def __init__(self, served: Iterable[Served]) -> None:
        ordered = sorted(served, key=lambda one: one.from_us)
        gaps = [Span(one.until_us, after.from_us) for one, after in pairwise(ordered) if one.until_us]
        if ordered and ordered[-1].until_us:
            gaps.append(Span(ordered[-1].until_us, float("inf")))
        self._gaps = [gap for gap in gaps if gap.until_us > gap.from_us]
        self._moves = [gap for gap in gaps if gap.until_us <= gap.from_us]

    def during(self, from_us: float, until_us: float) -> Span | None:
        """The last one that meets this time."""
        return _last(self._gaps, from_us, until_us)

    def move_during(self, from_us: float, until_us: float) -> Span | None:
        """The last move in this time that took none."""
        return _last(self._moves, from_us, until_us)


def _last(gaps: Sequence[Span], from_us: float, until_us: float) -> Span | None:
    place = bisect_right(gaps, until_us, key=_began) - 1
    return gaps[place] if place >= 0 and gaps[place].meets(from_us, until_us) else None


def _began(gap: Span) -> float:
    return gap.from_us


class Stays:
    """Of one client, at brokers."""

    def __init__(self, served: Iterable[Served] = ()) -> None:
        self._served = sorted(served, key=lambda one: one.from_us)
        self._from = [one.from_us for one in self._served]

    def during(self, from_us: float, until_us: float) -> Sequence[int]:
        """The brokers that served it in this time, and the last before and the first after it."""
        first = max(0, bisect_right(self._from, from_us) - 1)
        last = bisect_right(self._from, until_us)
        if last and self._served[last - 1].until_us and self._served[last - 1].until_us < until_us:
            last += 1  # it was away at the end
        return sorted({one.broker for one in self._served[first : max(last, first + 1)]})

    def followed(self) -> Iterator[tuple[Served, float]]:
        """Each stay, and when the next one begins."""
        for one, after in zip_longest(self._served, self._served[1:]):
            yield one, float("inf") if after is None else after.from_us
