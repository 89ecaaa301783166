"""The interface between drivers and cores that read and append to a log (seed 004, contract, section 1).

A driver asks for ``subscriptions`` at the start and after each input; the tuple is the same object while nothing
changes. It reads no more records of a subscription than there is ``room`` for. After each input it takes
``records_to_append`` and ``positions_to_commit``, which both clear a queue.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol

from overlay.core.node import Node
from overlay.log.topics import Append, Position, Record


class Start(StrEnum):
    """Where a group begins in a partition."""

    COMMITTED = "committed"
    """At its committed position; at the first record, if it has committed none."""
    NEWEST = "newest"
    """At its committed position; after the last record, if it has committed none."""
    WHOLE = "whole"
    """At the first record, each time that a partition is assigned. For compacted topics."""


@dataclass(frozen=True, slots=True)
class Subscription:
    topic: str
    group: str
    """Its members share the partitions of the topic. A node that reads all of them alone has a group of its own."""
    start: Start = Start.COMMITTED
    since_s: int = 0
    """With ``Start.WHOLE``: skip records older than this; 0: none."""

    def since_us(self, now_us: int) -> int:
        """Skip records appended before, Unix microseconds."""
        return now_us - self.since_s * 1_000_000 if self.since_s else 0


class Assignment(NamedTuple):
    """A partition that a node reads from now on."""

    topic: str
    group: str
    partition: int
    end: int
    """The position after the last record that is to come of those that existed when it was assigned: who has read all
    before it knows all that was there. 0: none is to come."""


class LogUser(Protocol):
    """A server or client that also reads from and appends to a log."""

    def subscriptions(self) -> tuple[Subscription, ...]: ...

    def room(self, subscription: Subscription) -> int:
        """How many records of it the node takes now; 0: none, for example while its pool is full."""
        ...

    def assigned(self, partitions: Sequence[Assignment], now: int) -> None: ...

    def revoked(self, partitions: Sequence[Assignment], now: int) -> None:
        """Unsettled work of these partitions is forgotten, since the new owner reads it again."""
        ...

    def receive_records(self, records: Sequence[Record], now: int) -> None:
        """In the order of each partition. Several subscriptions of one topic get one record each."""
        ...

    def records_to_append(self) -> Sequence[Append]: ...

    def appended(self, tokens: Sequence[object], now: int) -> None:
        """The records of these tokens are durable, in this order."""
        ...

    def positions_to_commit(self) -> Sequence[Position]: ...


class LogNode(Node, LogUser, Protocol):
    """A ``Node`` with a log."""
