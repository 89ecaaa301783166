"""The feed of a broker's table, and withdrawals, one class each; how brokers use them is in ``docs/extensions.md``.

Counterparts: ``feed_table`` describes them field by field, ``codec`` reads and writes them. ``timestamp`` is Unix
milliseconds. A *number* counts the changes of one broker's table during one life, from 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from overlay.systems.context_broker.wire.messages import Key


class Change(StrEnum):
    """What a record of a feed says of its entry."""

    ENTRY = "E"
    """It is held, and came from its provider."""
    REPLICA = "R"
    """It is held as a replica."""
    WITHDRAWN = "W"
    """Its provider has withdrawn it."""
    DROPPED = "D"
    """It is no longer held here although it has not expired; other brokers may hold it."""


@dataclass(slots=True, unsafe_hash=True)
class FeedRecord:
    """An entry at its latest change."""

    number: int
    change: str
    """A ``Change``."""
    message: bytes
    """A ContextResponse (4) without hops for an entry that is held, else a Withdraw (37). Unread."""


@dataclass(slots=True, unsafe_hash=True)
class FeedRequest:
    """Asks for the changes behind ``after``."""

    timestamp: int
    epoch: int
    """The epoch of which ``after`` is; 0 with none."""
    after: int
    wait_ms: int
    """How long it may wait for a change, if there is none yet."""
    most_bytes: int
    """The longest answer that is wanted. One record is sent however long it is."""


@dataclass(slots=True, unsafe_hash=True)
class FeedResponse:
    """Every entry whose latest change is behind ``after`` and not behind ``next``, in this order."""

    timestamp: int
    """That of the request."""
    epoch: int
    """When the broker's table was empty last, at its start, Unix milliseconds."""
    after: int
    """That of the request, or 0: the reader has missed changes and restarts."""
    next: int
    """What to ask for next."""
    last: int
    """The number of the latest change; there is more if it is behind ``next``."""
    records: tuple[FeedRecord, ...] = ()


@dataclass(slots=True, unsafe_hash=True)
class Withdraw:
    """The provider's data about the entity and scope are served no longer, if they are not newer than ``timestamp``."""

    timestamp: int
    provider_id: str
    entity_type: str
    entity_id: str
    scope: str
    until: int
    """Until when older data may turn up, Unix milliseconds: the latest ValidEnd known; 0 if unknown."""

    @property
    def key(self) -> Key:
        return self.entity_type, self.entity_id, self.scope


FeedMessage = FeedRequest | FeedResponse | Withdraw
