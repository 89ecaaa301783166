"""What was handed over and not acknowledged: which entry is to go to which keeper again, and when.

Counterpart: ``handover`` puts in what went unanswered and takes out what is due. Each pair waits longer each time
and is given up after the last: a keeper that answers everything but one entry must not cost a stream of them. One that
is silent altogether is buried meanwhile, and taken out at once.
"""

from __future__ import annotations

from collections import OrderedDict

from overlay.core.addresses import Address
from overlay.core.node import SECOND
from overlay.systems.context_broker.wire.messages import RawKey

Pair = tuple[Address, RawKey, str]
"""A keeper, and the key and provider of what it lacks."""

GAPS = tuple(gap * SECOND for gap in (1, 2, 4, 8, 16))
"""From going unanswered for the first, second ... time to the next. At 30 % loss each way, three questions in a
row are lost once in 8 times, and all of these once in 200,000."""
MOST_MISSED = 1024


class Missed:
    """At most ``MOST_MISSED`` pairs."""

    def __init__(self) -> None:
        self._waiting: tuple[OrderedDict[Pair, int], ...] = tuple(OrderedDict() for _ in GAPS)
        """When each is due, by how often it went unanswered before; the first to be due comes first."""

    def __len__(self) -> int:
        return sum(map(len, self._waiting))

    def put(self, pair: Pair, before: int, now: int) -> bool:
        """One that went unanswered, as it had ``before`` times; ``False`` where it is given up.

        One that waits already, as it was handed over twice at a time, starts from ``before`` again.
        """
        self.discard(pair)
        if before >= len(GAPS) or len(self) >= MOST_MISSED:
            return False
        self._waiting[before][pair] = now + GAPS[before]
        return True

    def take_due(self, now: int) -> tuple[Pair, int] | None:
        """One to hand over again, and how often it has gone unanswered."""
        for before, waiting in enumerate(self._waiting):
            if waiting and next(iter(waiting.values())) <= now:
                return waiting.popitem(last=False)[0], before + 1
        return None

    def discard(self, pair: Pair) -> None:
        for waiting in self._waiting:
            waiting.pop(pair, None)

    def forget(self, keeper: Address) -> None:
        """It is no contact any more, or is given everything."""
        for waiting in self._waiting:
            for pair in [pair for pair in waiting if pair[0] == keeper]:
                del waiting[pair]

    def clear(self) -> None:
        for waiting in self._waiting:
            waiting.clear()

    def first_due(self) -> int | None:
        return min((next(iter(waiting.values())) for waiting in self._waiting if waiting), default=None)

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` where there are too many, one waits twice, or the order is off."""
        assert len(self) <= MOST_MISSED
        assert len(set().union(*self._waiting)) == len(self)
        for waiting in self._waiting:
            assert list(waiting.values()) == sorted(waiting.values())
