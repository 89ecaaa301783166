"""Quotas: shares of a broker's entries, bytes, pending requests and neighbours. Pure.

Usage is charged to a source: a socket address if it is trusted, as the clients of one host share its
IP, otherwise a /24 (IPv6: a /64), as strangers can choose their addresses. Shares are percentages of a
capacity, rounded up, so many sources can use all of it, but a single one cannot.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from overlay.core.addresses import Address, block_of
from overlay.systems.context_broker.broker.config import BrokerConfig

if TYPE_CHECKING:
    from overlay.systems.context_broker.broker.entries import Entry

Key = TypeVar("Key", bound=Hashable)


@lru_cache(maxsize=4096)
def stranger(host: str) -> Address:
    """The source charged for a stranger at ``host``: its block, as an address with the unused port 0."""
    return block_of(host), 0


def part(capacity: int, percent: int) -> int:
    """A percentage of a capacity, rounded up."""
    return -(-capacity * percent // 100)


class Shares(Generic[Key]):
    """The usage of each key, with a limit."""

    __slots__ = ("_most", "_taken")

    def __init__(self, most: int) -> None:
        self._most = most
        self._taken: dict[Key, int] = {}

    def most(self, key: Key) -> int:
        """The limit of a key."""
        return self._most

    def permits(self, key: Key, more: int = 1) -> bool:
        """Whether a key may use this much more; releasing is always permitted."""
        return more <= 0 or self._taken.get(key, 0) + more <= self._most

    def take(self, key: Key, amount: int = 1) -> None:
        """Charge an amount; a negative one is released."""
        taken = self._taken.get(key, 0) + amount
        if taken:
            self._taken[key] = taken
        else:
            self._taken.pop(key, None)

    def clear(self) -> None:
        """Reset all usage."""
        self._taken.clear()

    def check_invariants(self, taken: dict[Key, int]) -> None:
        """Raise ``AssertionError`` unless the usage equals ``taken`` and is within the limits."""
        assert self._taken == taken
        assert all(0 < amount <= self._most for amount in taken.values())


class SourceShares(Shares[Address]):
    """Shares by source, with smaller limits for strangers, each and together."""

    __slots__ = ("_most_of_stranger", "_most_of_strangers", "_strangers")

    def __init__(self, capacity: int, config: BrokerConfig) -> None:
        super().__init__(part(capacity, config.source_share))
        self._most_of_stranger = part(capacity, config.stranger_share)
        self._most_of_strangers = part(capacity, config.strangers_share)
        self._strangers = 0

    def most(self, key: Address) -> int:
        return self._most if key[1] else min(self._most_of_stranger, self._most_of_strangers)

    def permits(self, key: Address, more: int = 1) -> bool:
        if key[1] or more <= 0:
            return super().permits(key, more)
        taken = self._taken.get(key, 0)
        return taken + more <= self._most_of_stranger and self._strangers + more <= self._most_of_strangers

    def take(self, key: Address, amount: int = 1) -> None:
        super().take(key, amount)
        if not key[1]:
            self._strangers += amount

    def clear(self) -> None:
        super().clear()
        self._strangers = 0

    def check_invariants(self, taken: dict[Address, int]) -> None:
        super().check_invariants(taken)
        strangers = [amount for source, amount in taken.items() if not source[1]]
        assert sum(strangers) == self._strangers <= self._most_of_strangers
        assert max(strangers, default=0) <= self._most_of_stranger


class TableShares:
    """The usage of a table by providers and sources. Replicas are not charged, because they are evicted first."""

    __slots__ = ("_provider_bytes", "_provider_entries", "_source_bytes", "_source_entries")

    def __init__(self, config: BrokerConfig) -> None:
        self._provider_entries: Shares[str] = Shares(part(config.table_entries, config.provider_share))
        self._provider_bytes: Shares[str] = Shares(part(config.table_bytes, config.provider_share))
        self._source_entries = SourceShares(config.table_entries, config)
        self._source_bytes = SourceShares(config.table_bytes, config)

    def permit(self, entry: Entry, old: Entry | None) -> bool:
        """Whether the quotas permit it as a replacement of ``old``, which is charged."""
        if old is None:
            return self._permits(entry, 1, len(entry.response))
        if old.source == entry.source:
            more = len(entry.response) - len(old.response)
            return more <= 0 or self._permits(entry, 0, more)
        self.refund(old)
        is_permitted = self._permits(entry, 1, len(entry.response))
        self.charge(old)
        return is_permitted

    def _permits(self, entry: Entry, entries: int, size: int) -> bool:
        provider, source = entry.provider, entry.source
        return (
            self._provider_entries.permits(provider, entries)
            and self._provider_bytes.permits(provider, size)
            and (source is None or self._source_entries.permits(source, entries))
            and (source is None or self._source_bytes.permits(source, size))
        )

    def charge(self, entry: Entry, sign: int = 1) -> None:
        size = sign * len(entry.response)
        self._provider_entries.take(entry.provider, sign)
        self._provider_bytes.take(entry.provider, size)
        if entry.source is not None:
            self._source_entries.take(entry.source, sign)
            self._source_bytes.take(entry.source, size)

    def exchange(self, old: Entry, entry: Entry) -> None:
        """Charge ``entry`` instead of ``old`` of the same provider; usually the source and size are the same."""
        if old.source != entry.source:
            self.refund(old)
            self.charge(entry)
        elif more := len(entry.response) - len(old.response):
            self._provider_bytes.take(entry.provider, more)
            if entry.source is not None:
                self._source_bytes.take(entry.source, more)

    def refund(self, entry: Entry) -> None:
        self.charge(entry, -1)

    def check_invariants(self, entries: Iterable[Entry]) -> None:
        """Raise ``AssertionError`` unless exactly these entries are charged."""
        books: list[Counter[Any]] = [Counter(), Counter(), Counter(), Counter()]
        for entry in entries:
            books[0][entry.provider] += 1
            books[1][entry.provider] += len(entry.response)
            if entry.source is not None:
                books[2][entry.source] += 1
                books[3][entry.source] += len(entry.response)
        self._provider_entries.check_invariants(books[0])
        self._provider_bytes.check_invariants(books[1])
        self._source_entries.check_invariants(books[2])
        self._source_bytes.check_invariants(books[3])
