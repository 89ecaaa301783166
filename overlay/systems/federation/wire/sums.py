"""Sums of tables, by which two brokers see that they hold the same, whatever the order of changes."""

from __future__ import annotations

from collections.abc import Iterable

from overlay.core.hashes import blake2b
from overlay.systems.federation.wire.composites import ENTRY, SUBSCRIPTION
from overlay.systems.federation.wire.notes import pack
from overlay.systems.federation.wire.values import Entry, Subscription, Summary

MODULUS = 1 << 64


def row_hash(row: Subscription | Entry) -> int:
    """BLAKE2b-64, big-endian, of its MessagePack, in networks with ContextML, too."""
    kind = SUBSCRIPTION if isinstance(row, Subscription) else ENTRY
    return int.from_bytes(blake2b(pack(kind.write(row)), digest_size=8).digest(), "big")


def sum_of(rows: Iterable[Subscription | Entry]) -> Summary:
    count = total = 0
    for row in rows:
        count += 1
        total += row_hash(row)
    return Summary(count, total % MODULUS)


def with_row(summary: Summary, row: Subscription | Entry) -> Summary:
    return Summary(summary.count + 1, (summary.total + row_hash(row)) % MODULUS)


def without_row(summary: Summary, row: Subscription | Entry) -> Summary:
    """``row`` is one of those in ``summary``."""
    return Summary(summary.count - 1, (summary.total - row_hash(row)) % MODULUS)
