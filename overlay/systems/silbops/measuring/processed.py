"""When all brokers had processed what a client set, or a publication.

Simulated, brokers report each message that they have processed or told. Of a call, those messages count that its edge
broker processed before it accepted the call, and what followed from them. Live, they report none, and a call counts as
processed ``LIVE_US`` later; so does a publication.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable
from itertools import accumulate

from overlay.systems.silbops.measuring.effects import Effects
from overlay.systems.silbops.rows import Processed, Told

LIVE_US = 1_000_000
PUBLICATION = "publication"


class ProcessedTimes:
    """Keys are those of publishers."""

    def __init__(self, processed: Iterable[Processed], told: Iterable[Told] = ()) -> None:
        self._publications: dict[tuple[str, int], int] = defaultdict(int)
        calls = []
        for one in processed:
            if one.kind == PUBLICATION:
                key = one.publisher, one.number
                self._publications[key] = max(self._publications[key], one.processed_us)
            else:
                calls.append(one)
        self.is_known = bool(calls or self._publications)
        effects = Effects(calls, told)
        self._begins = {key: [step.at_us for step in steps] for key, steps in effects.firsts.items()}
        self._own_ends = {key: [effects.end_us(step) for step in steps] for key, steps in effects.firsts.items()}
        self._ends = {key: list(accumulate(ends, max)) for key, ends in self._own_ends.items()}
        """Of all that had begun by then, the last end."""

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
