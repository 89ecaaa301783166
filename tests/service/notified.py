"""What was published, who was notified and when something was broken: the verdict on each notification. Pure; seconds.

A notification is *due* at a subscriber if nothing was broken from its publishing until ``DELIVER_S`` after its
acknowledgement. What a disturbance breaks is broken from its beginning until ``SETTLE_S`` after it is mended: then all
clients are registered again, and tables have gone over the tree.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import NamedTuple

DELIVER_S = 2.0
SETTLE_S = 5.0


class Number(NamedTuple):
    """Of a notification: by which way it was published, and the how manieth there it was."""

    way: str
    number: int


class Published(NamedTuple):
    number: Number
    begun: float
    acknowledged: float


class Broken(NamedTuple):
    """From when until when a part of the installation was."""

    begun: float
    mended: float


@dataclass
class Verdict:
    """Of the notifications for one way of subscribing."""

    published: int = 0
    due: int = 0
    notified: int = 0
    """Of those due."""
    also: int = 0
    """Notified though something was broken meanwhile."""
    repeated: int = 0
    missed: list[Number] = field(default_factory=list)


class Notices:
    """Append only; several threads may write."""

    def __init__(self) -> None:
        self.published: list[Published] = []
        self.refused: defaultdict[str, list[str]] = defaultdict(list)
        """Why notifications were not acknowledged, by way."""
        self.heard: defaultdict[str, Counter[Number]] = defaultdict(Counter)
        """By way of subscribing, how often each came."""
        self.broken: list[Broken] = []

    def is_due(self, one: Published) -> bool:
        until = one.acknowledged + DELIVER_S
        return not any(each.begun <= until and one.begun <= each.mended + SETTLE_S for each in self.broken)

    def verdict(self, way: str) -> Verdict:
        heard, verdict = self.heard[way], Verdict()
        verdict.repeated = sum(count - 1 for count in heard.values())
        for one in self.published:
            verdict.published += 1
            is_due, is_heard = self.is_due(one), one.number in heard
            verdict.due += is_due
            verdict.notified += is_due and is_heard
            verdict.also += is_heard and not is_due
            if is_due and not is_heard:
                verdict.missed.append(one.number)
        return verdict
