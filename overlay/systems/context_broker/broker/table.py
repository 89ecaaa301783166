"""The data table: what providers said and what was replicated, bounded in entries and bytes.

Rules (wire-protocol section 3, Store): of two messages of one provider about the same entity and scope the later header
timestamp wins, the first of two equal ones; data not valid now is never found; expired data is dropped and makes room.
Nobody's data take more than a share of it (``quotas``), and replicas make room for what providers say here, the oldest
first. Two kinds keep the entries: ``Indexed`` by entity and scope, and ``Linear``, the prototype's scan.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from enum import Enum
from heapq import heapify, heappop, heappush
from sys import intern
from typing import TYPE_CHECKING, Protocol, Self

from overlay.core.addresses import Address
from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.broker.linear import Linear, Modelled, latest_valid
from overlay.systems.context_broker.broker.quotas import TableShares
from overlay.systems.context_broker.wire.codec import encode
from overlay.systems.context_broker.wire.messages import (
    ContextResponse,
    ContextUpdateAdvertisement,
    Key,
    RawKey,
    key_of,
    raw_key,
)

if TYPE_CHECKING:
    from overlay.systems.context_broker.wire.extensions import Record

_DAY_MS = 86_400_000


class Entry:
    """One provider's data about one entity and scope, as the Response that answers with it (without hops)."""

    __slots__ = ("key", "provider", "response", "source", "valid_begin", "valid_end")

    def __init__(self, key: RawKey, provider: str, valid_begin: int, valid_end: int, response: bytes) -> None:
        self.key = key
        self.provider = intern(provider)  # thousands of entries share a few
        self.valid_begin = valid_begin
        self.valid_end = valid_end
        self.response = response
        self.source: Address | None = None
        """Who pays for it, where somebody told it to this broker."""

    @classmethod
    def of(cls, message: ContextUpdateAdvertisement | ContextResponse | Record) -> Self:
        """The entry that a message is about."""
        times = message.valid_begin, message.valid_end
        response = ContextResponse(message.timestamp, message.provider_id, *message.key, *times, message.payload)
        return cls(raw_key(message.key), message.provider_id, *times, encode(response))

    @property
    def timestamp(self) -> int:
        """Of the message that stored it first; read when two are compared, so that it takes no memory."""
        return int(self.response[2 : self.response.index(b"|", 2)])

    @property
    def payload(self) -> bytes:
        return self.response.split(b"|", 9)[9]

    def is_valid(self, wall_ms: int) -> bool:
        return self.valid_begin <= wall_ms < self.valid_end


class Replica(Entry):
    """One kept for another broker; the class is the mark, so that it costs no memory."""

    __slots__ = ()


class Stored(Enum):
    """What became of a message about data; the value is the counter of ``station.COUNTERS`` for it."""

    STORED = "stored"
    UNCHANGED = "outdated"
    """Older than what is there, or expired already."""
    FULL = "table_full"
    OVER_SHARE = "over_share"
    """There is room, of which its provider or source has its share."""

    @property
    def is_refused(self) -> bool:
        return self in (Stored.FULL, Stored.OVER_SHARE)


class Kind(Protocol):
    """How entries are kept and searched."""

    @property
    def compared(self) -> tuple[int, int]:
        """Entries looked at by all scans since the start, and how many of them were about what was asked for."""

    @property
    def index(self) -> Mapping[RawKey, Entry]:
        """The entry with the latest timestamp of each key, where this is known at once; none in a table that scans."""

    def get(self, key: RawKey, provider: str) -> Entry | None: ...
    def put(self, entry: Entry) -> None:
        """In place of one of that key and provider, which has an earlier timestamp."""

    def remove(self, entry: Entry) -> None: ...
    def newest(self, key: RawKey, wall_ms: int) -> Entry | None: ...
    def __iter__(self) -> Iterator[Entry]: ...


class Indexed:
    """A request is one dictionary look-up, however much the table holds."""

    __slots__ = ("_several", "index")

    compared = (0, 0)

    def __init__(self) -> None:
        self.index: dict[RawKey, Entry] = {}
        self._several: dict[RawKey, dict[str, Entry]] = {}
        """All entries of the keys that more than one provider describes, by provider."""

    def get(self, key: RawKey, provider: str) -> Entry | None:
        newest = self.index.get(key)
        if newest is None or newest.provider == provider:
            return newest
        return self._several[key].get(provider) if key in self._several else None

    def put(self, entry: Entry) -> None:
        key, newest = entry.key, self.index.get(entry.key)
        if newest is None:
            self.index[key] = entry
            return
        if newest.provider != entry.provider or key in self._several:
            several = self._several.setdefault(key, {newest.provider: newest})
            several[entry.provider] = entry
        if newest.provider == entry.provider or entry.timestamp > newest.timestamp:
            self.index[key] = entry

    def remove(self, entry: Entry) -> None:
        key = entry.key
        several = self._several.get(key)
        if several is None:
            del self.index[key]
            return
        del several[entry.provider]
        if self.index[key] is entry:
            self.index[key] = max(several.values(), key=lambda other: other.timestamp)
        if len(several) == 1:
            del self._several[key]

    def newest(self, key: RawKey, wall_ms: int) -> Entry | None:
        newest = self.index.get(key)
        if newest is None or newest.is_valid(wall_ms):
            return newest
        return latest_valid(self._several.get(key, {}).values(), wall_ms)

    def __iter__(self) -> Iterator[Entry]:
        for key, newest in self.index.items():
            if key in self._several:
                yield from self._several[key].values()
            else:
                yield newest


def _costs_the_same(old: Entry, new: Entry) -> bool:
    """Whether two entries of one provider take as much of what is shared, from the same source."""
    return (
        len(old.response) == len(new.response)
        and old.source == new.source
        and not isinstance(old, Replica)
        and not isinstance(new, Replica)
    )


KINDS: dict[str, type[Indexed] | type[Linear]] = {"indexed": Indexed, "linear": Linear}


class Table:
    """Entries of one broker. Times are wall-clock Unix milliseconds."""

    __slots__ = (
        "_config",
        "_expiries",
        "_kind",
        "_replica_bytes",
        "_replicas",
        "_shares",
        "bytes",
        "entries",
        "evicted",
        "expired",
    )

    def __init__(self, config: BrokerConfig) -> None:
        self._kind: Kind = KINDS[config.table]()
        self._config = config
        self._shares: TableShares | None = None
        """Opened with the first entry that somebody told; many brokers of a large network never have one."""
        self._replicas: OrderedDict[Entry, None] = OrderedDict()
        """The one that was stored first first. A plain dictionary would look at every place left empty to find it."""
        self._replica_bytes = 0
        self.entries = 0
        self.bytes = 0
        """Of the stored Responses: payloads, names and validity."""
        self.expired = 0
        """How many entries were dropped after their ValidEnd, ever."""
        self.evicted = 0
        """How many replicas made room for what a provider said, ever."""
        self._expiries: list[tuple[int, RawKey, str]] = []
        """A heap of when to look at an entry again: too early is harmless, too late never happens."""

    @property
    def replicas(self) -> int:
        """How many entries are kept for another broker."""
        return len(self._replicas)

    def spare_scans(self) -> None:
        """Find what a scan would and count what it would look at, without looking. To be called while it is empty."""
        assert not self.entries
        if isinstance(self._kind, Linear):
            self._kind = Modelled()

    @property
    def index(self) -> Mapping[RawKey, Entry]:
        """The entry with the latest timestamp of each key, valid or not, as far as one look-up tells."""
        return self._kind.index

    @property
    def compared(self) -> tuple[int, int]:
        """Entries looked at by all scans since the start, and how many of them were about what was asked for."""
        return self._kind.compared

    def find(self, key: RawKey, wall_ms: int) -> Entry | None:
        """The entry valid now that has the latest header timestamp."""
        return self._kind.newest(key, wall_ms)

    def __iter__(self) -> Iterator[Entry]:
        """Every entry, valid or not; not to be changed meanwhile."""
        return iter(self._kind)

    def held(self, key: RawKey, provider: str, wall_ms: int) -> Entry | None:
        """The entry of this very provider, unless it has expired."""
        entry = self._kind.get(key, provider)
        return None if entry is None or entry.valid_end <= wall_ms else entry

    def store(self, entry: Entry, wall_ms: int) -> Stored:
        """Store by the rule above; what is not stored changes nothing that is valid."""
        if entry.valid_end <= wall_ms:
            return Stored.UNCHANGED
        known = self._live(entry, wall_ms)
        if known is not None:
            if known.timestamp >= entry.timestamp:
                return Stored.UNCHANGED
            if _costs_the_same(known, entry):  # as most updates do, so that no book changes and nothing has to go
                self._kind.put(entry)
                if entry.valid_end < known.valid_end:
                    self._watch(entry, wall_ms)
                return Stored.STORED
        while (refusal := self._refusal(entry, known)) and self.expire(wall_ms):
            pass
        if refusal is not None:
            return refusal
        self._evict_for(entry, known)
        self._kind.put(entry)
        if known is None:
            self._book(entry)
        elif self._shares is None or isinstance(known, Replica) or isinstance(entry, Replica):
            self._unbook(known)
            self._book(entry)
        else:
            self.bytes += len(entry.response) - len(known.response)
            self._shares.exchange(known, entry)
        if known is None or entry.valid_end < known.valid_end:
            self._watch(entry, wall_ms)
        return Stored.STORED

    def held_keys(self, wall_ms: int) -> dict[Key, bool]:
        """What is valid now, and whether it came from its provider rather than as a replica."""
        keys: dict[RawKey, bool] = {}
        for entry in self._kind:
            if entry.is_valid(wall_ms):
                keys[entry.key] = keys.get(entry.key, False) or not isinstance(entry, Replica)
        return {key_of(raw): is_own for raw, is_own in keys.items()}

    def expire(self, wall_ms: int, most: int = 1000) -> int:
        """Drop entries whose ValidEnd has passed, looking at ``most`` at a time; how many were looked at."""
        looked = 0
        while self._expiries and self._expiries[0][0] <= wall_ms and looked < most:
            looked += 1
            _, key, provider = heappop(self._expiries)
            entry = self._kind.get(key, provider)
            if entry is None:
                continue
            if entry.valid_end <= wall_ms:
                self._drop(entry)
            else:
                self._watch(entry, wall_ms)
        return looked

    def next_expiry(self) -> int | None:
        """When ``expire`` has something to look at."""
        return self._expiries[0][0] if self._expiries else None

    def _live(self, entry: Entry, wall_ms: int) -> Entry | None:
        known = self._kind.get(entry.key, entry.provider)
        if known is not None and known.valid_end <= wall_ms:
            self._drop(known)
            return None
        return known

    def _refusal(self, entry: Entry, known: Entry | None) -> Stored | None:
        """Why there is no place for it, were it to take that of ``known``."""
        if isinstance(entry, Replica):
            return None if self._fits(entry, known) else Stored.FULL
        old = None if isinstance(known, Replica) else known
        if not self._fits_among_own(entry, old):
            return Stored.FULL
        if self._shares is None:
            self._shares = TableShares(self._config)
        return None if self._shares.permit(entry, old) else Stored.OVER_SHARE

    def _fits(self, entry: Entry, known: Entry | None) -> bool:
        entries = self.entries + (known is None)
        size = self.bytes + len(entry.response) - (len(known.response) if known else 0)
        return entries <= self._config.table_entries and size <= self._config.table_bytes

    def _fits_among_own(self, entry: Entry, old: Entry | None) -> bool:
        """Whether it would fit if there were no replicas."""
        entries = self.entries - len(self._replicas) + (old is None)
        size = self.bytes - self._replica_bytes + len(entry.response) - (len(old.response) if old else 0)
        return entries <= self._config.table_entries and size <= self._config.table_bytes

    def _evict_for(self, entry: Entry, known: Entry | None) -> None:
        """Remove replicas, the oldest first, until it fits in the place of ``known``."""
        while not self._fits(entry, known):
            replica = next(replica for replica in self._replicas if replica is not known)
            self.remove(replica)
            self.evicted += 1

    def _drop(self, entry: Entry) -> None:
        self.remove(entry)
        self.expired += 1

    def remove(self, entry: Entry) -> None:
        """Drop an entry that is here, before its time."""
        self._kind.remove(entry)
        self._unbook(entry)

    def _book(self, entry: Entry) -> None:
        self.entries += 1
        self.bytes += len(entry.response)
        if isinstance(entry, Replica):
            self._replicas[entry] = None
            self._replica_bytes += len(entry.response)
        elif self._shares is not None:
            self._shares.charge(entry)

    def _unbook(self, entry: Entry) -> None:
        self.entries -= 1
        self.bytes -= len(entry.response)
        if isinstance(entry, Replica):
            del self._replicas[entry]
            self._replica_bytes -= len(entry.response)
        elif self._shares is not None:
            self._shares.refund(entry)

    def _watch(self, entry: Entry, wall_ms: int) -> None:
        """Look again at ValidEnd, but within a day, so that no timer is absurdly far away."""
        heappush(self._expiries, (min(entry.valid_end, wall_ms + _DAY_MS), entry.key, entry.provider))
        if len(self._expiries) > 2 * self.entries + 64:
            self._expiries = [(min(e.valid_end, wall_ms + _DAY_MS), e.key, e.provider) for e in self._kind]
            heapify(self._expiries)

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` where the books do not balance."""
        kept = list(self._kind)
        assert self.entries == len(kept) == len({(e.key, e.provider) for e in kept}) <= self._config.table_entries
        assert self.bytes == sum(len(e.response) for e in kept) <= self._config.table_bytes
        assert len(self._expiries) <= 2 * self._config.table_entries + 64
        watched = {item[1:]: item[0] for item in sorted(self._expiries, reverse=True)}
        assert all(watched[e.key, e.provider] <= e.valid_end for e in kept)
        assert set(self._replicas) == {e for e in kept if isinstance(e, Replica)}
        assert self._replica_bytes == sum(len(e.response) for e in self._replicas)
        if self._shares is not None:
            self._shares.check_invariants([e for e in kept if not isinstance(e, Replica)])
        if isinstance(self._kind, Modelled):
            self._kind.check_invariants()
