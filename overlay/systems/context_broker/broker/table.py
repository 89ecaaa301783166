"""The data table: entries from providers and replicas, bounded in number and bytes.

Rules (wire-protocol section 3, Store): of two messages from one provider about the same entity and scope, the one with
the later header timestamp wins; with equal timestamps the first wins. Only data valid now is found. Expired data is
removed. Each provider and source has a maximum share of the table (``quotas``). If the table is full, the oldest
replicas are removed for new entries from providers. Entries are kept by ``Indexed``, with an index by entity and scope,
or by ``Linear``, which scans as the prototype does.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from heapq import heapify, heappop, heappush

from overlay.systems.context_broker.broker.config import BrokerConfig
from overlay.systems.context_broker.broker.entries import Entry, Replica, Stored
from overlay.systems.context_broker.broker.feed import Feed
from overlay.systems.context_broker.broker.indexed import Indexed, Kind
from overlay.systems.context_broker.broker.linear import Linear, Modelled
from overlay.systems.context_broker.broker.quotas import TableShares
from overlay.systems.context_broker.wire.messages import Key, RawKey, key_of

_DAY_MS = 86_400_000


def _costs_the_same(old: Entry, new: Entry) -> bool:
    """Whether two entries of one provider count equally against the same quotas."""
    return (
        len(old.response) == len(new.response)
        and old.source == new.source
        and type(old) is type(new)
        and not isinstance(new, Replica)
    )


KINDS: dict[str, type[Indexed] | type[Linear]] = {"indexed": Indexed, "linear": Linear}


class Table:
    """The entries of one broker. Times are Unix times in milliseconds."""

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
        "feed",
        "withdrawn",
    )

    def __init__(self, config: BrokerConfig) -> None:
        self._kind: Kind = KINDS[config.table]()
        self._config = config
        self._shares: TableShares | None = None
        """Created with the first entry that has a source; many brokers of a large network never have one."""
        self._replicas: OrderedDict[Entry, None] = OrderedDict()
        """Replicas, oldest first. Ordered, because finding the first key of a plain dict gets slow after deletions."""
        self._replica_bytes = 0
        self.feed: Feed | None = None
        """Its changes by number, while they are asked for."""
        self.entries = 0
        """With the withdrawn ones."""
        self.withdrawn = 0
        """Withdrawals, which take the place of their entries."""
        self.bytes = 0
        """The size of the stored Responses: payloads, names and validity."""
        self.expired = 0
        """The number of entries removed after their ValidEnd, since the start."""
        self.evicted = 0
        """The number of replicas removed for entries from providers, since the start."""
        self._expiries: list[tuple[int, RawKey, str]] = []
        """A heap of the times when entries must be checked for expiry. A time may be too early, never too late."""

    @property
    def replicas(self) -> int:
        """The number of replicas."""
        return len(self._replicas)

    def spare_scans(self) -> None:
        """Compute the results and the counts of a scan without scanning. Call it while the table is empty."""
        assert not self.entries
        if isinstance(self._kind, Linear):
            self._kind = Modelled()

    @property
    def index(self) -> Mapping[RawKey, Entry]:
        """The entry with the latest timestamp by key, valid or not; empty in a table that scans."""
        return self._kind.index

    @property
    def compared(self) -> tuple[int, int]:
        """The number of entries compared by all scans since the start, and how many of them matched."""
        return self._kind.compared

    def find(self, key: RawKey, wall_ms: int) -> Entry | None:
        """The valid entry with the latest header timestamp."""
        return self._kind.newest(key, wall_ms)

    def __iter__(self) -> Iterator[Entry]:
        """Every entry, valid or not. The table must not change during the iteration."""
        return iter(self._kind)

    def held(self, key: RawKey, provider: str, wall_ms: int) -> Entry | None:
        """The entry of this provider, unless it has expired."""
        entry = self._kind.get(key, provider)
        return None if entry is None or entry.valid_end <= wall_ms else entry

    def store(self, entry: Entry, wall_ms: int) -> Stored:
        """Store ``entry`` by the rules above. A refused entry leaves all valid entries unchanged."""
        if entry.valid_end <= wall_ms:
            return Stored.UNCHANGED
        known = self._live(entry, wall_ms)
        if known is not None:
            if known.timestamp >= entry.timestamp and known.outlasts(entry):
                return Stored.UNCHANGED
            if _costs_the_same(known, entry):  # the common case: no quota changes and no entry is evicted
                self._kind.put(entry)
                if self.feed is not None:
                    self.feed.put(entry, known)
                if entry.valid_end < known.valid_end:
                    self._watch(entry, wall_ms)
                return Stored.STORED
        while (refusal := self._refusal(entry, known)) and self.expire(wall_ms):
            pass
        if refusal is not None:
            return refusal
        self._evict_for(entry, known)
        self._kind.put(entry)
        if self.feed is not None:
            self.feed.put(entry, known)
        if known is None:
            self._book(entry)
        elif self._shares is None or type(known) is not type(entry) or isinstance(entry, Replica):
            self._unbook(known)
            self._book(entry)
        else:
            self.bytes += len(entry.response) - len(known.response)
            self._shares.exchange(known, entry)
        if known is None or entry.valid_end < known.valid_end:
            self._watch(entry, wall_ms)
        return Stored.STORED

    def held_keys(self, wall_ms: int) -> dict[Key, bool]:
        """The keys of valid entries, and whether each came from its provider (otherwise it is a replica)."""
        keys: dict[RawKey, bool] = {}
        for entry in self._kind:
            if entry.is_valid(wall_ms):
                keys[entry.key] = keys.get(entry.key, False) or not isinstance(entry, Replica)
        return {key_of(raw): is_own for raw, is_own in keys.items()}

    def expire(self, wall_ms: int, most: int = 1000) -> int:
        """Remove expired entries, checking at most ``most``. Returns how many were checked."""
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
        """The next time at which ``expire`` has an entry to check."""
        return self._expiries[0][0] if self._expiries else None

    def _live(self, entry: Entry, wall_ms: int) -> Entry | None:
        known = self._kind.get(entry.key, entry.provider)
        if known is not None and known.valid_end <= wall_ms:
            self._drop(known)
            return None
        return known

    def _refusal(self, entry: Entry, known: Entry | None) -> Stored | None:
        """Why it cannot be stored in place of ``known``; ``None`` if it can."""
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
        """Whether it would fit without the replicas."""
        entries = self.entries - len(self._replicas) + (old is None)
        size = self.bytes - self._replica_bytes + len(entry.response) - (len(old.response) if old else 0)
        return entries <= self._config.table_entries and size <= self._config.table_bytes

    def _evict_for(self, entry: Entry, known: Entry | None) -> None:
        """Remove replicas, oldest first, until ``entry`` fits in place of ``known``."""
        while not self._fits(entry, known):
            replica = next(replica for replica in self._replicas if replica is not known)
            self.remove(replica)
            self.evicted += 1

    def _drop(self, entry: Entry) -> None:
        if self.feed is not None:
            self.feed.expire(entry)
        self._kind.remove(entry)
        self._unbook(entry)
        self.expired += not entry.is_withdrawn

    def remove(self, entry: Entry) -> None:
        """Remove a stored entry before it expires."""
        if self.feed is not None:
            self.feed.drop(entry)
        self._kind.remove(entry)
        self._unbook(entry)

    def _book(self, entry: Entry) -> None:
        self.entries += 1
        self.bytes += len(entry.response)
        self.withdrawn += entry.is_withdrawn
        if isinstance(entry, Replica):
            self._replicas[entry] = None
            self._replica_bytes += len(entry.response)
        elif self._shares is not None:
            self._shares.charge(entry)

    def _unbook(self, entry: Entry) -> None:
        self.entries -= 1
        self.bytes -= len(entry.response)
        self.withdrawn -= entry.is_withdrawn
        if isinstance(entry, Replica):
            del self._replicas[entry]
            self._replica_bytes -= len(entry.response)
        elif self._shares is not None:
            self._shares.refund(entry)

    def _watch(self, entry: Entry, wall_ms: int) -> None:
        """Schedule the expiry check at ValidEnd, at most one day ahead to bound timers."""
        heappush(self._expiries, (min(entry.valid_end, wall_ms + _DAY_MS), entry.key, entry.provider))
        if len(self._expiries) > 2 * self.entries + 64:
            self._expiries = [(min(e.valid_end, wall_ms + _DAY_MS), e.key, e.provider) for e in self._kind]
            heapify(self._expiries)

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if totals and entries disagree."""
        kept = list(self._kind)
        assert self.entries == len(kept) == len({(e.key, e.provider) for e in kept}) <= self._config.table_entries
        assert self.bytes == sum(len(e.response) for e in kept) <= self._config.table_bytes
        assert len(self._expiries) <= 2 * self._config.table_entries + 64
        watched = {item[1:]: item[0] for item in sorted(self._expiries, reverse=True)}
        assert all(watched[e.key, e.provider] <= e.valid_end for e in kept)
        assert set(self._replicas) == {e for e in kept if isinstance(e, Replica)}
        assert self._replica_bytes == sum(len(e.response) for e in self._replicas)
        assert self.withdrawn == sum(e.is_withdrawn for e in kept)
        if self._shares is not None:
            self._shares.check_invariants([e for e in kept if not isinstance(e, Replica)])
        if self.feed is not None:
            self.feed.check_invariants(kept)
        if isinstance(self._kind, Modelled):
            self._kind.check_invariants()
