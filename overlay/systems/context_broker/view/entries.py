"""An entry of the view, and which of the records of several brokers is the present one. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from overlay.core.addresses import Address
from overlay.systems.context_broker.clients.feed_reader import Record
from overlay.systems.context_broker.wire.feed_messages import Change
from overlay.systems.context_broker.wire.messages import Key


@dataclass(slots=True)
class Entry:
    """What a provider says about a key, according to all brokers that were read."""

    record: Record
    """The latest one; a withdrawal if that is the latest."""
    holders: tuple[Address, ...]
    """The brokers that hold this value; empty for a withdrawal."""
    known: tuple[Address, ...]
    """The brokers with a record of any age."""

    @property
    def key(self) -> Key:
        return self.record.key

    @property
    def provider(self) -> str:
        return self.record.provider


def merged(records: Mapping[Address, Record]) -> Entry | None:
    """The entry of the records that brokers have of one name; ``None`` without any.

    The latest timestamp wins, as in every broker's table; of equal ones a withdrawal. Two values of one provider and
    timestamp are not meant to exist: the order of their contents decides, so that all views agree.
    """
    if not records:
        return None
    latest = max(records.values(), key=_rank)
    holders = tuple(broker for broker, one in records.items() if one is latest or is_same(one, latest))
    return Entry(latest, holders if latest.is_held else (), tuple(records))


def is_same(one: Record | None, other: Record | None) -> bool:
    """Whether both say the same, wherever they are held."""
    if one is None or other is None:
        return one is other
    return _said(one) == _said(other)


def _rank(record: Record) -> tuple[int, bool, int, int, bytes, bool]:
    end, begin = record.valid_end, record.valid_begin
    return record.timestamp, not record.is_held, end, begin, record.payload, record.change is Change.ENTRY


def _said(record: Record) -> tuple[int, bool, int, int, bytes]:
    return record.timestamp, record.is_held, record.valid_begin, record.valid_end, record.payload
