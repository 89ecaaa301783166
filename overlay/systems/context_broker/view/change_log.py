"""The last changes of a view, by number, so that a listener resumes behind the last one that it has. Pure.

Bounded in number and bytes. A listener that missed a change that is no longer here is told so, and lists the view
again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from overlay.core.addresses import Address
from overlay.systems.context_broker.clients.feed_reader import Record

MOST_CHANGES = 20_000
MOST_BYTES = 32_000_000
OVERHEAD_BYTES = 500
"""Of a change, without its payloads."""


class Kind(StrEnum):
    """What became of an entry."""

    STORED = "stored"
    """It is new, or has another value."""
    WITHDRAWN = "withdrawn"
    """Its provider has withdrawn it."""
    EXPIRED = "expired"
    """The end of its validity has come."""
    DROPPED = "dropped"
    """No broker that was read holds it any more; if an older value is held, that is reported as stored."""


@dataclass(frozen=True, slots=True)
class NetworkChange:
    """One change of one entry."""

    sequence: int
    """From 1, one more for each change."""
    kind: Kind
    record: Record
    """The value stored, the withdrawal, or the value that expired or was dropped."""
    before: Record | None
    """The value that was valid before; ``None`` if there was none."""
    holders: tuple[Address, ...]
    """Brokers that hold the value stored; more may follow without a change."""

    @property
    def size_bytes(self) -> int:
        before = len(self.before.payload) if self.before is not None else 0
        return OVERHEAD_BYTES + len(self.record.payload) + before


class ChangeLog:
    """``epoch`` distinguishes this view from earlier ones of other processes: its beginning, Unix milliseconds."""

    def __init__(self, epoch: int, most_changes: int = MOST_CHANGES, most_bytes: int = MOST_BYTES) -> None:
        self.epoch = epoch
        self.last = 0
        """The number of the latest change."""
        self._most_changes = most_changes
        self._most_bytes = most_bytes
        self._changes: deque[NetworkChange] = deque()
        self._bytes = 0

    def add(self, kind: Kind, record: Record, before: Record | None, holders: tuple[Address, ...]) -> None:
        self.last += 1
        change = NetworkChange(self.last, kind, record, before, holders)
        self._changes.append(change)
        self._bytes += change.size_bytes
        while len(self._changes) > self._most_changes or (self._bytes > self._most_bytes and len(self._changes) > 1):
            self._bytes -= self._changes.popleft().size_bytes

    def id_of(self, sequence: int) -> str:
        """The id that a listener shows to resume behind this change."""
        return f"{self.epoch}-{sequence}"

    def sequence_of(self, id: str) -> int | None:
        """The number of ``id_of``; ``None`` for what this log has not given out."""
        epoch, _, number = id.partition("-")
        if epoch != str(self.epoch) or not (number.isascii() and number.isdigit() and len(number) < 20):
            return None
        return int(number) if int(number) <= self.last else None

    def after(self, sequence: int, most: int = 1_000) -> Sequence[NetworkChange] | None:
        """The next changes behind this number, at most so many; ``None`` if one of them is no longer here."""
        missed = self.last - sequence
        if missed < 0 or missed > len(self._changes):
            return None
        return [self._changes[position - missed] for position in range(min(missed, most))]

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if its bounds or its numbers do not hold."""
        assert len(self._changes) <= self._most_changes
        assert self._bytes == sum(change.size_bytes for change in self._changes)
        assert self._bytes <= self._most_bytes or len(self._changes) == 1
        assert not self._changes or self._changes[-1].sequence == self.last
        assert all(one.sequence + 1 == other.sequence for one, other in pairwise(self._changes))
