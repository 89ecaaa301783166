"""The last changes of a view, by number. Pure. A listener that missed some lists the view again."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from overlay.core.addresses import Address
from overlay.core.numbered_log import NumberedLog
from overlay.systems.context_broker.clients.feed_reader import Record

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


class ChangeLog(NumberedLog[NetworkChange]):
    def add(self, kind: Kind, record: Record, before: Record | None, holders: tuple[Address, ...]) -> None:
        change = NetworkChange(self.last + 1, kind, record, before, holders)
        self.append(change, change.size_bytes)

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if its bounds or its numbers do not hold."""
        super().check_invariants()
        changes = [change for change, _ in self._items]
        assert all(change.size_bytes == size for change, size in self._items)
        assert not changes or changes[-1].sequence == self.last
        assert all(one.sequence + 1 == other.sequence for one, other in pairwise(changes))
