"""When all brokers had processed what a client set, or a publication.

Simulated, brokers report each message that they have processed. Of a call, those messages count that its edge broker
processed before it accepted the call, and what followed from them without a pause. Live, they report none, and a call
counts as processed ``LIVE_US`` later; so does a publication.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable
from itertools import accumulate

from overlay.systems.silbops.rows import Processed

LIVE_US = 1_000_000
PAUSE_US = 1_000_000
"""Between two messages about the same: the later one has another cause, such as a neighbour that is back."""
PUBLICATION = "publication"


class ProcessedTimes:
    """Keys are those of publishers."""

    def __init__(self, rows: Iterable[Processed]) -> None:
        times: dict[tuple[str, str, int], list[int]] = defaultdict(list)
        for one in rows:
            times[one.publisher, one.kind, one.number].append(one.processed_us)
        self.is_known = bool(times)
        self._publications: dict[tuple[str, int], int] = {}
        bursts: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for (key, kind, number), several in times.items():
            several.sort()
            if kind == PUBLICATION:
                self._publications[key, number] = several[-1]
            else:
                bursts[key].append((several[0], _end(several)))
        self._begins: dict[str, list[int]] = {}
        self._ends: dict[str, list[int]] = {}
        """Of all bursts that have begun by then, the last end."""
        self._own_ends: dict[str, list[int]] = {}
        for key, found in bursts.items():
            found.sort()
            self._begins[key] = [begin for begin, _ in found]
            self._own_ends[key] = [end for _, end in found]
            self._ends[key] = list(accumulate(self._own_ends[key], max))

    def of_call(self, key: str, at_us: int, accepted_us: int) -> float:
        """``accepted_us``: 0 if it was not accepted."""
        if not accepted_us:
            return float("inf")
        if not self.is_known:
            return at_us + LIVE_US
        begins = self._begins.get(key, [])
        place = bisect_right(begins, accepted_us) - 1
        return max(accepted_us, self._ends[key][place] if place >= 0 else 0)

    def effect_of(self, key: str, at_us: int, accepted_us: int) -> int | None:
        """When the last message that a call caused was processed; ``None`` if that is unknown."""
        if not self.is_known or not accepted_us:
            return None
        begins = self._begins.get(key, [])
        first, end = bisect_left(begins, at_us), bisect_right(begins, accepted_us)
        return max(self._own_ends[key][first:end], default=accepted_us)

    def of_publication(self, key: str, number: int, published_us: int) -> float:
        if not self.is_known:
            return published_us + LIVE_US
        return self._publications.get((key, number), published_us)


def _end(times: list[int]) -> int:
    """Of the first burst."""
    last = times[0]
    for at in times:
        if at > last + PAUSE_US:
            break
        last = at
    return last
