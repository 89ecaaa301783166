"""Response times, outcomes and other durations since the start of measuring, as load generators report them. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Contribution:
    """The data of one tick of a load generator."""

    at_us: int
    is_update: bool
    response_us: Counter[int]
    counts: dict[str, int]
    name: str = ""
    """Of a histogram of other durations, which are then ``response_us``."""


class Totals:
    """Response times and outcomes of the requests since a point in time."""

    def __init__(self, since_us: int = 0) -> None:
        self.since_us = since_us
        self.until_us = since_us
        self._told_us: int | None = None
        """The last tick before it; the next one contains everything since."""
        self.outcomes: Counter[str] = Counter()
        self.updates: Counter[str] = Counter()
        self.response_us: Counter[int] = Counter()
        self.times: dict[str, Counter[int]] = {}

    def add(self, contribution: Contribution) -> None:
        if contribution.at_us <= self.since_us:
            self._told_us = max(self._told_us or 0, contribution.at_us)
            return
        self.until_us = max(self.until_us, contribution.at_us)
        if contribution.name:
            self.times.setdefault(contribution.name, Counter()).update(contribution.response_us)
        elif contribution.is_update:
            self.updates.update(contribution.counts)
        else:
            self.outcomes.update(contribution.counts)
            self.response_us.update(contribution.response_us)

    def duration_us(self, measured_until_us: int | None) -> int:
        """The duration for rates: up to now, without the wait for the last answers after measuring."""
        until_us = self.until_us if measured_until_us is None else min(self.until_us, measured_until_us)
        return until_us - (self.since_us if self._told_us is None else self._told_us)
