"""Follows the feed of one broker: what to ask, and what an answer changes. Pure; bytes in, records out.

Counterpart: ``broker.feeding`` answers. A driver sends ``ask``, again with a new timestamp if no answer comes, and
gives ``read`` what arrives::

    ask(stamp) ──> broker ──> read(data, wall_ms) ──> changes; ``records`` is the table as far as it is known
         ^                        │
         └── at once if there is more, else with a wait of ``wait_ms``

A broker that has restarted, or that no longer knows what the reader missed, is read from the beginning. What it no
longer has, withdrawals included, is then reported as dropped when its table has been read to the end. One reader is for
one broker's address.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from overlay.core.errors import WireError
from overlay.systems.context_broker.wire.codec import encode, parse
from overlay.systems.context_broker.wire.feed_messages import Change, FeedRecord, FeedRequest, FeedResponse, Withdraw
from overlay.systems.context_broker.wire.messages import ContextResponse, Key, Nack

Name = tuple[Key, str]
"""An entry: its key and its provider."""

MOST_ASKED = 8
"""Questions without an answer whose answers are still accepted; of the latest ones."""


@dataclass(frozen=True, slots=True)
class Record:
    """An entry of a broker at its latest change. Times are Unix milliseconds."""

    change: Change
    provider: str
    key: Key
    timestamp: int
    """Header timestamp of the message that stored or withdrew it; of a dropped one, that of the entry."""
    valid_begin: int
    """0 for a withdrawal and a dropped entry."""
    valid_end: int
    """Until when it is of use: ValidEnd, or how long a withdrawal holds."""
    payload: bytes = b""

    @property
    def name(self) -> Name:
        return self.key, self.provider

    @property
    def is_held(self) -> bool:
        return self.change in (Change.ENTRY, Change.REPLICA)

    def is_valid(self, wall_ms: int) -> bool:
        return self.is_held and self.valid_begin <= wall_ms < self.valid_end


class FeedReader:
    """``most_records`` and ``most_payload_bytes`` bound its memory: what is beyond is passed on, but not kept."""

    def __init__(
        self,
        wait_ms: int = 5_000,
        most_bytes: int = 60_000,
        most_records: int = 1_000_000,
        most_payload_bytes: int = 1_000_000_000,
    ) -> None:
        self.records: dict[Name, Record] = {}
        """What the broker holds, and what has been withdrawn there."""
        self.epoch = 0
        """The start of the broker, Unix milliseconds; 0 before its first answer."""
        self.after = 0
        """The number of the last change read."""
        self.last = 0
        """The number of the broker's latest change when it answered last."""
        self.is_complete = False
        """Whether its table has been read to the end since it was begun."""
        self.left_out = 0
        """Records that were not kept, since its table was begun."""
        self.answered_stamp = 0
        """The timestamp of the latest question that was answered."""
        self.payload_bytes = 0
        """Of all records."""
        self.most_records = most_records
        self.most_payload_bytes = most_payload_bytes
        self.wait_ms = wait_ms
        self._most_bytes = most_bytes
        self._asked: list[int] = []
        self._unseen: set[Name] = set()
        """Those of before it restarted that it has not met again."""
        self._ends: list[tuple[int, Name]] = []

    @property
    def has_more(self) -> bool:
        """Whether the broker is known to have more, so that the next question is not one that waits."""
        return not self.is_complete or self.after < self.last

    def ask(self, stamp: int, *, waits: bool = True) -> bytes:
        """The next question, with a timestamp that was not used before. ``waits``: it may wait for a change."""
        self._asked = [*self._asked[1 - MOST_ASKED :], stamp]
        wait_ms = 0 if self.has_more or not waits else self.wait_ms
        return encode(FeedRequest(stamp, self.epoch, self.after, wait_ms, self._most_bytes))

    def is_answer(self, data: bytes) -> bool:
        """Whether a datagram answers one of the questions; another one changes nothing in ``read``."""
        return self._answer(data) is not None

    def is_refusal(self, data: bytes) -> bool:
        """Whether a datagram refuses one of the questions: the broker does not trust the address of the reader."""
        if not data.startswith(b"6|"):
            return False
        try:
            refusal = parse(data)
        except WireError:
            return False
        return isinstance(refusal, Nack) and refusal.timestamp in self._asked

    def read(self, data: bytes, wall_ms: int) -> list[Record]:
        """Take an answer; what has changed by it, in order. Empty for anything else."""
        answer = self._answer(data)
        if answer is None:
            return []
        self.answered_stamp = answer.timestamp
        self._asked.clear()
        self.expire(wall_ms)
        if answer.epoch != self.epoch or answer.after != self.after:
            self._begin()
        read = [record for one in answer.records if (record := _read(one)) is not None]
        changes = [record for record in read if self._take(record, wall_ms)]
        self.epoch, self.after, self.last = answer.epoch, answer.next, answer.last
        if self.after >= self.last and not self.is_complete:
            self.is_complete = True
            changes += self._sweep()
        self._tidy()
        return changes

    def expire(self, wall_ms: int) -> list[Record]:
        """Forget what has expired, and return it. ``read`` forgets it, too; the broker reports no expiry."""
        expired = []
        while self._ends and self._ends[0][0] <= wall_ms:
            _, name = heappop(self._ends)
            record = self.records.get(name)
            if record is not None and record.valid_end <= wall_ms:
                self._forget(name)
                expired.append(record)
        return expired

    def next_expiry(self) -> int | None:
        """When ``expire`` may have something to forget, Unix milliseconds."""
        return self._ends[0][0] if self._ends else None

    def valid(self, wall_ms: int) -> Iterator[Record]:
        """The entries that the broker would serve now."""
        return (record for record in self.records.values() if record.is_valid(wall_ms))

    def _answer(self, data: bytes) -> FeedResponse | None:
        if not data.startswith(b"36|"):
            return None
        try:
            answer = parse(data)
        except WireError:
            return None
        if not isinstance(answer, FeedResponse) or answer.timestamp not in self._asked:
            return None
        follows = answer.epoch == self.epoch and answer.after == self.after
        return answer if follows or answer.after == 0 else None

    def _begin(self) -> None:
        self._unseen = set(self.records)
        self.is_complete = False
        self.left_out = 0

    def _take(self, record: Record, wall_ms: int) -> bool:
        """Whether it is news: what was never known, or has expired, is not dropped."""
        name = record.name
        was_known = name in self.records
        self._unseen.discard(name)
        if record.change is Change.DROPPED or record.valid_end <= wall_ms:
            self._forget(name)
            return was_known
        self._forget(name)
        size = self.payload_bytes + len(record.payload)
        if len(self.records) < self.most_records and size <= self.most_payload_bytes:
            self.records[name] = record
            self.payload_bytes = size
            self._watch(record.valid_end, name)
        else:
            self.left_out += 1
        return True

    def _sweep(self) -> list[Record]:
        gone = [self.records[name] for name in self._unseen if name in self.records]
        self._unseen.clear()
        for record in gone:
            self._forget(record.name)
        return [_dropped(record) for record in gone]

    def _forget(self, name: Name) -> None:
        record = self.records.pop(name, None)
        if record is not None:
            self.payload_bytes -= len(record.payload)
        self._unseen.discard(name)

    def _watch(self, end: int, name: Name) -> None:
        heappush(self._ends, (end, name))
        self._tidy()

    def _tidy(self) -> None:
        if len(self._ends) > 2 * len(self.records) + 64:
            self._ends = [(record.valid_end, name) for name, record in self.records.items()]
            heapify(self._ends)

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if what it keeps is not bounded or not watched."""
        assert self.payload_bytes == sum(len(record.payload) for record in self.records.values())
        assert self.payload_bytes <= self.most_payload_bytes
        assert len(self.records) <= self.most_records and len(self._asked) <= MOST_ASKED
        assert len(self._ends) <= 2 * len(self.records) + 65
        assert self._unseen <= self.records.keys()
        watched = set(self._ends)
        assert all((record.valid_end, name) in watched for name, record in self.records.items())


def _read(record: FeedRecord) -> Record | None:
    """``None`` for one that this version cannot read."""
    try:
        message = parse(record.message)
    except WireError:
        return None
    change = Change(record.change)
    if isinstance(message, ContextResponse):
        times = message.timestamp, message.valid_begin, message.valid_end
        return Record(change, message.provider_id, message.key, *times, message.payload)
    if isinstance(message, Withdraw):
        return Record(change, message.provider_id, message.key, message.timestamp, 0, message.until)
    return None


def _dropped(record: Record) -> Record:
    return Record(Change.DROPPED, record.provider, record.key, record.timestamp, 0, record.valid_end)
