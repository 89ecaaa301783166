"""Answers those who follow the table (35): at once, or when there is a change.

Counterparts: ``feed`` numbers the changes; ``clients.feed_reader`` follows them. Readers ask, and nothing is sent
unasked, so a lost datagram costs one repetition. The feed begins with the first question and ends when no reader has
asked for ``IDLE``: until then, and from then on, it costs the table nothing.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from overlay.core.addresses import Address
from overlay.core.node import MILLISECOND, SECOND
from overlay.systems.context_broker.broker.feed import Feed, Page
from overlay.systems.context_broker.broker.quotas import Shares, part
from overlay.systems.context_broker.broker.station import Station
from overlay.systems.context_broker.broker.table import Table
from overlay.systems.context_broker.wire.feed_messages import FeedRequest, FeedResponse
from overlay.systems.context_broker.wire.kinds import MAX_DATAGRAM, MAX_DIGITS

LONGEST_WAIT_MS = 60_000
IDLE = 600 * SECOND
"""After so long without a question the feed is forgotten; its readers restart."""

_HEAD = len("36|") + 5 * (MAX_DIGITS + 1)
"""The longest answer without records, in bytes."""


@dataclass(frozen=True, slots=True)
class Waiting:
    request: FeedRequest
    until: int
    """When it is answered without a change, monotonic nanoseconds."""


class Feeding:
    """``epoch`` is the start of the broker, Unix milliseconds."""

    __slots__ = ("_asked", "_due", "_epoch", "_last", "_shares", "_station", "_table", "_waiting")

    def __init__(self, station: Station, table: Table, epoch: int) -> None:
        config = station.config
        self._station = station
        self._table = table
        self._epoch = epoch
        self._waiting: dict[Address, Waiting] = {}
        """One request of an address; a later one takes its place. All have seen ``_last``."""
        self._shares: Shares[str] = Shares(part(config.feed_readers, config.source_share))
        self._last = 0
        """The number of the latest change that all who wait have seen."""
        self._due: int | None = None
        """When the first of them has waited long enough."""
        self._asked = 0

    def __len__(self) -> int:
        """The number of waiting requests."""
        return len(self._waiting)

    def handle_request(self, request: FeedRequest, source: Address, now: int) -> None:
        """Answer it, or let it wait if its reader knows everything and there is room."""
        feed = self._begin()
        self._asked = now
        self._forget(source)
        if feed.last > self._last:
            self._answer_waiting(now, now + LONGEST_WAIT_MS * MILLISECOND)
            self._last = feed.last
        is_up_to_date = request.epoch == self._epoch and request.after == feed.last
        if is_up_to_date and request.wait_ms and self._may_wait(source, now):
            wait_ms = min(request.wait_ms, LONGEST_WAIT_MS)
            self._waiting[source] = Waiting(request, now + wait_ms * MILLISECOND)
            self._shares.take(source[0])
            self._set_due()
        else:
            self._answer(request, self._page(feed, request, now), source, now)

    def handle_timer(self, now: int) -> None:
        feed = self._table.feed
        if feed is None:
            return
        if feed.last > self._last:
            self._answer_waiting(now, now + LONGEST_WAIT_MS * MILLISECOND)
            self._last = feed.last
        elif self._due is not None and self._due <= now:
            self._answer_waiting(now, now)
        if not self._waiting and now >= self._asked + IDLE:
            self._table.feed = None

    def next_timer(self) -> int | None:
        """0, that is immediately, if there is something new for those who wait."""
        feed = self._table.feed
        if feed is None:
            return None
        if not self._waiting:
            return self._asked + IDLE
        return 0 if feed.last > self._last else self._due

    def _begin(self) -> Feed:
        feed = self._table.feed
        if feed is None:
            feed = self._table.feed = Feed(self._table, self._last)
        return feed

    def _may_wait(self, source: Address, now: int) -> bool:
        if len(self._waiting) < self._station.config.feed_readers and self._shares.permits(source[0]):
            return True
        self._station.report_limit("feed readers", now)
        return False

    def _answer_waiting(self, now: int, until: int) -> None:
        """Answer those who wait until then at most."""
        feed, pages = self._begin(), dict[int, Page]()
        for to, waiting in list(self._waiting.items()):
            if waiting.until <= until:
                request = waiting.request
                if request.most_bytes not in pages:  # all of them know the same
                    pages[request.most_bytes] = self._page(feed, request, now)
                self._forget(to)
                self._answer(request, pages[request.most_bytes], to, now)

    def _page(self, feed: Feed, request: FeedRequest, now: int) -> Page:
        after = request.after if request.epoch == self._epoch else 0
        most = min(request.most_bytes, MAX_DATAGRAM) - _HEAD
        return feed.page(after, most, self._station.wall_ms(now))

    def _answer(self, request: FeedRequest, page: Page, to: Address, now: int) -> None:
        counters, numbers = self._station.counters, (page.after, page.next, self._begin().last)
        answer = FeedResponse(request.timestamp, self._epoch, *numbers, page.records)
        if self._station.send_message(answer, to, now):
            counters["feed_records"] += len(page.records)
            counters["feed_resets"] += page.after != request.after

    def _forget(self, source: Address) -> None:
        if self._waiting.pop(source, None) is not None:
            self._shares.take(source[0], -1)
            self._set_due()

    def _set_due(self) -> None:
        self._due = min((waiting.until for waiting in self._waiting.values()), default=None)

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if what waits, its shares and its timer disagree, or waits for what has come."""
        self._shares.check_invariants(dict(Counter(host for host, _ in self._waiting)))
        assert len(self._waiting) <= self._station.config.feed_readers
        assert self._due == min((waiting.until for waiting in self._waiting.values()), default=None)
        assert all(waiting.request.after == self._last for waiting in self._waiting.values())
        assert self._table.feed is not None or not self._waiting
