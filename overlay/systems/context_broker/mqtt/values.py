"""A value of an entry with its times, and which of two is news. Pure; times are Unix milliseconds."""

from __future__ import annotations

from dataclasses import dataclass

from overlay.systems.context_broker.clients.feed_reader import Name
from overlay.systems.context_broker.wire.messages import Key


@dataclass(frozen=True, slots=True)
class Value:
    """What a provider says, as brokers store it and messages carry it, unchanged."""

    provider: str
    key: Key
    timestamp: int
    """Orders the values of an entry."""
    valid_begin: int
    valid_end: int
    payload: bytes

    @property
    def name(self) -> Name:
        return self.key, self.provider

    @property
    def rank(self) -> tuple[int, int, str, bytes]:
        """The greatest is the latest. All bridges agree, also if two have the same timestamp."""
        return self.timestamp, self.valid_end, self.provider, self.payload

    def is_valid(self, now_ms: int) -> bool:
        return self.valid_begin <= now_ms < self.valid_end

    def says_the_same(self, other: Value, slack_ms: int) -> bool:
        """Whether both have the same provider and payload, and about the same end of validity."""
        return (
            self.payload == other.payload
            and self.provider == other.provider
            and abs(self.valid_end - other.valid_end) <= slack_ms
        )

    def is_news_to(self, known: Value, slack_ms: int) -> bool:
        """Whether it is later than ``known`` and says something else."""
        return self.rank > known.rank and not self.says_the_same(known, slack_ms)
