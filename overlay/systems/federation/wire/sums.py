"""Sums of tables, by which two brokers see that they hold the same, whatever the order of changes."""

from __future__ import annotations

from collections.abc import Iterable

from overlay.core.hashes import blake2b
from overlay.messages.codec import pack
from overlay.messages.kinds import Kind
from overlay.systems.federation.wire.composites import ENTRY, SUBSCRIPTION
from overlay.systems.federation.wire.values import Entry, Subscription, Summary

MODULUS = 1 << 64


def row_hash(row: Subscription | Entry) -> int:
    """BLAKE2b-64, big-endian, of its MessagePack, in networks with ContextML, too. An entry keeps it."""
    if isinstance(row, Subscription):
        return _hash(row, SUBSCRIPTION)
    if row.hash is None:
        object.__setattr__(row, "hash", _hash(row, ENTRY))
    assert row.hash is not None
    return row.hash


def _hash(row: Subscription | Entry, kind: Kind) -> int:
    return int.from_bytes(blake2b(pack(kind.write(row)), digest_size=8).digest(), "big")


def sum_of(rows: Iterable[Subscription | Entry]) -> Summary:
    found = RunningSum()
    for row in rows:
        found.add(row)
    return found.summary


class RunningSum:
    """The sum of a table that changes."""

    __slots__ = ("_count", "_total")

    def __init__(self) -> None:
        self._count = self._total = 0

    @property
    def summary(self) -> Summary:
        return Summary(self._count, self._total % MODULUS)

    def add(self, row: Subscription | Entry) -> None:
        self._count += 1
        self._total += row_hash(row)

    def remove(self, row: Subscription | Entry) -> None:
        """``row`` is one of the table."""
        self._count -= 1
        self._total -= row_hash(row)
