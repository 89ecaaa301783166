"""A table as a feed: each entry once, at the number of its latest change. Pure.

Counterparts: ``table`` notes every change here; ``feeding`` answers readers. CouchDB's ``_changes`` and Kafka's
compacted topics have the same form: a listing is the feed from 0, and following is the feed from the last number seen.

An entry that expires leaves without a record, since a reader knows its ValidEnd. An entry that goes earlier, or
that replaced one with a later ValidEnd, leaves a record that it is gone until no reader can hold it any more. Of
these records only the latest ``MOST_GONE`` are kept; a reader who may have missed another one restarts.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter
from typing import TYPE_CHECKING

from overlay.systems.context_broker.wire.feed_messages import Change, FeedRecord
from overlay.systems.context_broker.wire.messages import RawKey

if TYPE_CHECKING:
    from overlay.systems.context_broker.broker.entries import Entry

MOST_GONE = 10_000
"""Records of entries that are gone; of about 200 bytes each."""
SPARE_PLACES = 64
"""Places of earlier changes that are kept beyond as many as there are records."""

_number = attrgetter("number")


class Place:
    """One change. ``what`` is the entry, or the withdrawal that says that it is gone; ``None`` once it has changed
    again."""

    __slots__ = ("number", "until", "what")

    def __init__(self, number: int, what: Entry | bytes | None, until: int) -> None:
        self.number = number
        self.what = what
        self.until = until
        """The latest ValidEnd with which a reader may hold it, Unix milliseconds."""


@dataclass(frozen=True, slots=True)
class Page:
    """What a reader is told; see ``FeedResponse``."""

    after: int
    next: int
    records: tuple[FeedRecord, ...]


class Feed:
    __slots__ = ("_at", "_first", "_gone", "_places", "last")

    def __init__(self, entries: Iterable[Entry], before: int = 0) -> None:
        """The feed of a table with these entries. Numbers up to ``before`` were given out by an earlier feed."""
        self.last = before + 1 if before else 0
        """The number of the latest change."""
        self._first = self.last
        """Readers of an earlier number restart."""
        self._places: list[Place] = []
        """By number, with those that have changed again."""
        self._at: dict[Entry, Place] = {}
        self._gone: OrderedDict[tuple[RawKey, str], Place] = OrderedDict()
        for entry in entries:
            self.put(entry, None)

    def put(self, entry: Entry, known: Entry | None) -> None:
        """Note that ``entry`` was stored, in place of ``known`` if there was one."""
        self.last = number = self.last + 1
        until = entry.valid_end
        old = self._at.pop(known) if known is not None else self._take_gone(entry) if self._gone else None
        if old is not None:
            old.what = None
            if old.until > until:
                until = old.until
        place = self._at[entry] = Place(number, entry, until)
        self._places.append(place)
        self._tidy()

    def drop(self, entry: Entry) -> None:
        """Note that ``entry`` is gone before its ValidEnd."""
        old = self._at.pop(entry)
        old.what = None
        self._leave(entry, old.until)

    def expire(self, entry: Entry) -> None:
        """Note that ``entry`` has expired. Readers know, unless they may hold an older one that ends later."""
        old = self._at.pop(entry)
        old.what = None
        if old.until > entry.valid_end:
            self._leave(entry, old.until)
        else:
            self._tidy()

    def page(self, after: int, most_bytes: int, wall_ms: int) -> Page:
        """The changes behind ``after``, as many as fit, but at least one. From 0 if that reader must restart."""
        if not self._first <= after <= self.last:
            after = 0
        records: list[FeedRecord] = []
        left = most_bytes
        for place in self._behind(after):
            if place.what is None or place.until <= wall_ms:
                continue
            record = _record(place.number, place.what)
            left -= len(record.message) + _FRAME
            if left < 0 and records:
                return Page(after, records[-1].number, tuple(records))
            records.append(record)
        return Page(after, self.last, tuple(records))

    def _behind(self, after: int) -> Iterator[Place]:
        begin = bisect_right(self._places, after, key=_number)
        return map(
            self._places.__getitem__, range(begin, len(self._places))
        )  # ``islice`` would go through those before

    def _take_gone(self, entry: Entry) -> Place | None:
        return self._gone.pop((entry.key, entry.provider), None)

    def _leave(self, entry: Entry, until: int) -> None:
        self.last += 1
        place = Place(self.last, entry.gone(until), until)
        self._gone[entry.key, entry.provider] = place
        self._places.append(place)
        if len(self._gone) > MOST_GONE:
            _, oldest = self._gone.popitem(last=False)
            oldest.what = None
            self._first = max(self._first, oldest.number)
        self._tidy()

    def _tidy(self) -> None:
        if len(self._places) > 2 * (len(self._at) + len(self._gone)) + SPARE_PLACES:
            self._places = [one for one in self._places if one.what is not None]

    def check_invariants(self, entries: Iterable[Entry]) -> None:
        """Raise ``AssertionError`` unless exactly these entries are held, and places and numbers agree."""
        assert set(self._at) == set(entries)
        numbers = [place.number for place in self._places]
        assert all(one < other for one, other in pairwise(numbers))
        assert not numbers or numbers[-1] <= self.last
        live = [place for place in self._places if place.what is not None]
        assert len(live) == len(self._at) + len(self._gone)
        assert {id(place) for place in live} == {id(one) for one in (*self._at.values(), *self._gone.values())}
        assert all(place.what is entry and place.until >= entry.valid_end for entry, place in self._at.items())
        assert not self._gone.keys() & {(entry.key, entry.provider) for entry in self._at}
        assert len(self._gone) <= MOST_GONE
        assert len(self._places) <= 2 * len(live) + SPARE_PLACES


_FRAME = 26
"""The longest number, a letter, the longest size of a datagram and the separators of a record, in bytes."""


def _record(number: int, what: Entry | bytes) -> FeedRecord:
    if isinstance(what, bytes):
        return FeedRecord(number, Change.DROPPED, what)
    return FeedRecord(number, what.change, what.response)
