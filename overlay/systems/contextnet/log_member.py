"""The base of all that reads and appends records, servers and applications.

::

    record ─> read ─> append(…, then) ─> durable: then ─> settle ─> a position to commit
               └ unreadable: topic ``rejected``, durable ─> settle
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Final

from overlay.core.errors import WireError
from overlay.log.node import Assignment, Subscription
from overlay.log.progress import Progress
from overlay.log.topics import Append, Position, Record
from overlay.systems.contextnet.records import codec
from overlay.systems.contextnet.records.kinds import MOST_REJECTED
from overlay.systems.contextnet.records.names import REJECTED
from overlay.systems.contextnet.records.records import Rejected

MOST_UNSETTLED: Final = 1_024
"""Records read and not settled, of which more are not read."""
MOST_REASON: Final = 200
"""Characters."""


class LogMember(ABC):
    """A ``LogUser``, which overrides ``subscriptions`` and ``read``."""

    def __init__(self, name: str, wall_offset_ns: int) -> None:
        self.name, self.wall_offset_ns = name, wall_offset_ns
        self.now = 0
        """Of the call that is answered."""
        self.counters: dict[str, int] = defaultdict(int)
        self.progress = Progress()
        self._appends: list[Append] = []
        self._awaited: dict[int, Callable[[], None]] = {}
        """What follows when a record is durable, by its token."""
        self._tokens = 0

    # ---- what it does

    @abstractmethod
    def subscriptions(self) -> tuple[Subscription, ...]: ...
    @abstractmethod
    def read(self, record: Record) -> None:
        """Take a record in, and ``settle`` it now or later. Raises ``WireError`` for one that it cannot read, before
        anything has changed."""

    # ---- with what

    @property
    def wall_us(self) -> int:
        """Unix microseconds."""
        return (self.now + self.wall_offset_ns) // 1_000

    def append(self, topic: str, key: bytes, value: bytes, then: Callable[[], None] | None = None) -> None:
        """``then`` is called when the record is durable."""
        token = None
        if then is not None:
            self._tokens += 1
            token, self._awaited[self._tokens] = self._tokens, then
        self._appends.append(Append(topic, key, value, token))
        self.counters[f"out_{topic}"] += 1

    def settle(self, record: Record) -> None:
        self.progress.settle(record.topic, record.partition, record.position)

    # ---- a LogUser

    def room(self, subscription: Subscription) -> int:
        return max(0, MOST_UNSETTLED - self.progress.unsettled())

    def assigned(self, partitions: Sequence[Assignment], now: int) -> None:
        self.now = now
        self.progress.assigned(partitions)

    def revoked(self, partitions: Sequence[Assignment], now: int) -> None:
        self.now = now
        self.progress.revoked(partitions)

    def receive_records(self, records: Sequence[Record], now: int) -> None:
        self.now = now
        for record in records:
            self.counters[f"in_{record.topic}"] += 1
            self.progress.read(record)
            try:
                self.read(record)
            except WireError as error:
                self._reject(record, str(error))

    def records_to_append(self) -> Sequence[Append]:
        appends, self._appends = self._appends, []
        return appends

    def appended(self, tokens: Sequence[object], now: int) -> None:
        self.now = now
        for token in tokens:
            assert isinstance(token, int)
            self._awaited.pop(token)()

    def positions_to_commit(self) -> Sequence[Position]:
        return self.progress.positions_to_commit()

    def set_wall_clock(self, offset_ns: int) -> None:
        self.wall_offset_ns = offset_ns

    def check_invariants(self) -> None:
        """(I2). Raises ``AssertionError``."""
        self.progress.check_invariants()

    # ---- inner

    def _reject(self, record: Record, reason: str) -> None:
        self.counters["rejected"] += 1
        rejected = Rejected(record.topic, self.name, reason[:MOST_REASON], record.value[:MOST_REJECTED])
        self.append(REJECTED, record.key, codec.write(rejected), lambda: self.settle(record))
