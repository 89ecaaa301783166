"""Unacknowledged handovers: which entry to send to which keeper again, and when.

Counterpart: ``handover`` adds unanswered handovers and removes those that are due. Each pair waits longer after each
attempt and is dropped after the last, so that a keeper that never acknowledges one entry does not cost an endless
stream of messages. A keeper that does not answer at all stops being a contact, and its pairs are removed.
"""

from __future__ import annotations

from collections import OrderedDict

from overlay.core.addresses import Address
from overlay.core.node import SECOND
from overlay.systems.context_broker.wire.messages import RawKey

Pair = tuple[Address, RawKey, str]
"""A keeper, and the key and provider of the entry that it lacks."""

GAPS = tuple(gap * SECOND for gap in (1, 2, 4, 8, 16))
"""Delays after the first, second, ... attempt without an answer. At 30 % loss each way, three questions in a row are
lost once in 8 times, and all of these once in 200,000."""
MOST_MISSED = 1024


class Missed:
    """At most ``MOST_MISSED`` pairs."""

    def __init__(self) -> None:
        self._waiting: tuple[OrderedDict[Pair, int], ...] = tuple(OrderedDict() for _ in GAPS)
        """By number of earlier attempts: when each pair is due, earliest first."""

    def __len__(self) -> int:
        return sum(map(len, self._waiting))

    def put(self, pair: Pair, before: int, now: int) -> bool:
        """Add a pair without an answer, after ``before`` earlier attempts; ``False`` if it is dropped.

        A pair that already waits, because it was handed over twice at a time, restarts from ``before``.
        """
        self.discard(pair)
        if before >= len(GAPS) or len(self) >= MOST_MISSED:
            return False
        self._waiting[before][pair] = now + GAPS[before]
        return True

    def take_due(self, now: int) -> tuple[Pair, int] | None:
        """Remove and return a pair that is due, and its number of attempts."""
        for before, waiting in enumerate(self._waiting):
            if waiting and next(iter(waiting.values())) <= now:
                return waiting.popitem(last=False)[0], before + 1
        return None

    def discard(self, pair: Pair) -> None:
        for waiting in self._waiting:
            waiting.pop(pair, None)

    def forget(self, keeper: Address) -> None:
        """Remove a keeper that is no longer a contact or that receives all entries."""
        for waiting in self._waiting:
            for pair in [pair for pair in waiting if pair[0] == keeper]:
                del waiting[pair]

    def clear(self) -> None:
        for waiting in self._waiting:
            waiting.clear()

    def first_due(self) -> int | None:
        return min((next(iter(waiting.values())) for waiting in self._waiting if waiting), default=None)

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if there are too many pairs, a pair waits twice, or the order is wrong."""
        assert len(self) <= MOST_MISSED
        assert len(set().union(*self._waiting)) == len(self)
        for waiting in self._waiting:
            assert list(waiting.values()) == sorted(waiting.values())
