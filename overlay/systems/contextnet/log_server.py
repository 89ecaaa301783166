"""The base of servers that live on the log: they read records and append others; datagrams are only operators'.

::

    record ─> read ─> append(…, then) ─> durable: then ─> settle ─> a position to commit
               └ unreadable: topic ``rejected``, durable ─> settle
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, Final

from overlay.core.addresses import Address
from overlay.core.chance import Chances
from overlay.core.errors import WireError
from overlay.core.node import NodeEvent
from overlay.core.timers import Timers
from overlay.log.node import Assignment, Subscription
from overlay.log.progress import Progress
from overlay.log.topics import Append, Position, Record
from overlay.peers.operators import Operators
from overlay.systems.contextnet.records import codec
from overlay.systems.contextnet.records.kinds import MOST_REJECTED
from overlay.systems.contextnet.records.names import REJECTED
from overlay.systems.contextnet.records.records import Rejected

MOST_UNSETTLED: Final = 1_024
"""Records read and not settled, of which more are not read."""
MOST_REASON: Final = 200
"""Characters."""


class LogServer(ABC):
    """A ``Server`` and ``LogNode``. A role overrides ``subscriptions``, ``read``, and ``due`` if it sets ``timers``."""

    def __init__(self, name: str, address: Address, chances: Chances, wall_offset_ns: int) -> None:
        self.name, self.address, self.wall_offset_ns = name, address, wall_offset_ns
        self.now = 0
        """Of the call that is answered."""
        self.counters: dict[str, int] = defaultdict(int)
        self.timers = Timers()
        self.progress = Progress()
        self.noted: list[NodeEvent] = []
        """For ``events``."""
        self._operators = Operators(name.encode(), address, chances, self.counters, lambda: self.statistics(self.now))
        self._appends: list[Append] = []
        self._awaited: dict[int, Callable[[], None]] = {}
        """What follows when a record is durable, by its token."""
        self._tokens = 0

    # ---- what a role does

    @abstractmethod
    def subscriptions(self) -> tuple[Subscription, ...]: ...
    @abstractmethod
    def read(self, record: Record) -> None:
        """Take a record in, and ``settle`` it now or later. Raises ``WireError`` for one that it cannot read, before
        anything has changed."""

    def due(self, key: Any) -> None:
        """A deadline of ``timers`` has come. For roles that set some."""
        raise AssertionError(f"{self.name} sets no deadlines")

    def gauges(self) -> dict[str, int]:
        """Current values, for ``statistics``."""
        return {}

    # ---- for roles

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

    # ---- a LogNode

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

    # ---- a Server

    def receive_datagrams(self, datagrams: Sequence[tuple[bytes, Address]], now: int) -> None:
        self.now = now
        for data, source in datagrams:
            if not self._operators.receive(data, source):
                self.counters["malformed_loose"] += 1

    def datagrams_to_send(self) -> Sequence[tuple[bytes, Address]]:
        return self._operators.datagrams_to_send()

    def handle_timer(self, now: int) -> None:
        self.now = now
        for key in self.timers.due(now):
            self.due(key)

    def next_timer(self) -> int | None:
        return self.timers.next_timer()

    def events(self) -> Sequence[NodeEvent]:
        noted, self.noted = self.noted, []
        return noted

    def traces(self) -> Sequence[Any]:
        return ()

    @property
    def knows(self) -> Callable[[Address], bool]:
        """No address: its peers are on the log."""
        return lambda address: False

    def set_wall_clock(self, offset_ns: int) -> None:
        self.wall_offset_ns = offset_ns

    def statistics(self, now: int) -> dict[str, int]:
        return {**self.counters, "unsettled": self.progress.unsettled(), **self.gauges()}

    def leave(self, now: int) -> int:
        """At once: what it has not settled, the next owner reads."""
        return 0

    def check_invariants(self) -> None:
        """(I2). Raises ``AssertionError``."""
        self.progress.check_invariants()

    # ---- inner

    def _reject(self, record: Record, reason: str) -> None:
        self.counters["rejected"] += 1
        rejected = Rejected(record.topic, self.name, reason[:MOST_REASON], record.value[:MOST_REJECTED])
        self.append(REJECTED, record.key, codec.write(rejected), lambda: self.settle(record))
