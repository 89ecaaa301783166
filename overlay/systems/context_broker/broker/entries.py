"""What a table keeps: entries, replicas and withdrawals, each of one provider about one entity and scope.

Counterpart: ``table`` stores them; ``indexed`` and ``linear`` find them.
"""

from __future__ import annotations

from enum import Enum
from sys import intern
from typing import TYPE_CHECKING, Self

from overlay.core.addresses import Address
from overlay.systems.context_broker.wire.codec import encode
from overlay.systems.context_broker.wire.feed_messages import Change, Withdraw
from overlay.systems.context_broker.wire.messages import ContextResponse, ContextUpdateAdvertisement, RawKey, raw_key

if TYPE_CHECKING:
    from overlay.systems.context_broker.wire.extensions import Record


class Entry:
    """One provider's data about one entity and scope, stored as the Response that returns it (without hops)."""

    __slots__ = ("key", "provider", "response", "source", "valid_begin", "valid_end")

    change = Change.ENTRY
    """What the feed says of it."""
    is_withdrawn = False
    counted_as = "stored"
    """The counter of ``station.COUNTERS`` that counts it when it is stored."""

    def __init__(self, key: RawKey, provider: str, valid_begin: int, valid_end: int, response: bytes) -> None:
        self.key = key
        self.provider = intern(provider)  # few values, shared by thousands of entries
        self.valid_begin = valid_begin
        self.valid_end = valid_end
        self.response = response
        self.source: Address | None = None
        """The source whose quota it counts against, if a client or broker sent it to this broker."""

    @classmethod
    def of(cls, message: ContextUpdateAdvertisement | ContextResponse | Record) -> Self:
        """The entry for the data of a message."""
        times = message.valid_begin, message.valid_end
        response = ContextResponse(message.timestamp, message.provider_id, *message.key, *times, message.payload)
        return cls(raw_key(message.key), message.provider_id, *times, encode(response))

    @property
    def timestamp(self) -> int:
        """The header timestamp of the message that stored it. Parsed on demand, to save memory."""
        return int(self.response[2 : self.response.index(b"|", 2)])

    @property
    def payload(self) -> bytes:
        return self.response.split(b"|", 9)[9]

    def is_valid(self, wall_ms: int) -> bool:
        return self.valid_begin <= wall_ms < self.valid_end

    def outlasts(self, other: Entry) -> bool:
        """Whether it stays when ``other`` of the same provider arrives. Of equal timestamps the first one stays, but a
        withdrawal wins in any order."""
        if self.timestamp != other.timestamp:
            return self.timestamp > other.timestamp
        return self.is_withdrawn or not other.is_withdrawn

    def gone(self, until: int) -> bytes:
        """The text that says that it is no longer held."""
        return b"37|%d|%b|%b|%d" % (self.timestamp, self.provider.encode(), self.key, until)


class Replica(Entry):
    """An entry replicated from another broker. A subclass instead of a flag, to save memory."""

    __slots__ = ()

    change = Change.REPLICA

    def outlasts(self, other: Entry) -> bool:
        """Its original takes its place: the broker that has it leaves, and gives it away (``giving``)."""
        is_its_original = type(other) is Entry and other.timestamp == self.timestamp
        return not is_its_original and super().outlasts(other)


class Withdrawn(Entry):
    """The withdrawal of an entry, in its place until ``valid_end``; never valid, so it is never found."""

    __slots__ = ()

    change = Change.WITHDRAWN
    is_withdrawn = True
    counted_as = "withdrawals"

    @classmethod
    def by(cls, message: Withdraw, until: int) -> Self:
        """The entry for a message, kept until Unix milliseconds."""
        text = encode(Withdraw(message.timestamp, message.provider_id, *message.key, until))
        return cls(raw_key(message.key), message.provider_id, until, until, text)

    @property
    def timestamp(self) -> int:
        return int(self.response[3 : self.response.index(b"|", 3)])

    @property
    def payload(self) -> bytes:
        return b""


class Stored(Enum):
    """The result of storing a message; the value is its counter in ``station.COUNTERS``."""

    STORED = "stored"
    UNCHANGED = "outdated"
    """Older than the stored entry, or already expired."""
    FULL = "table_full"
    OVER_SHARE = "over_share"
    """The table has space, but the provider or source has used its share."""

    @property
    def is_refused(self) -> bool:
        return self in (Stored.FULL, Stored.OVER_SHARE)
