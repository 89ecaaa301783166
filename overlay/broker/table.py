"""The data table: what providers said and what was replicated, bounded in entries and bytes.

Rules (wire-protocol section 3, Store): of two messages of one provider about the same entity and scope the later header
timestamp wins, the first of two equal ones; data not valid now is never found; expired data is dropped and makes room.
Two kinds keep the entries: ``Indexed`` by entity and scope, and ``Linear``, the prototype's scan, which ``Reckoned``
stands for in simulations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum, auto
from functools import lru_cache
from heapq import heapify, heappop, heappush
from itertools import count
from operator import attrgetter
from sys import intern
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol, Self

from overlay.broker.messages import ContextResponse, ContextUpdateAdvertisement, Key, RawKey, key_of, raw_key
from overlay.broker.wire import encode

if TYPE_CHECKING:
    from overlay.broker.extensions import Record

_DAY_MS = 86_400_000


class Entry:
    """One provider's data about one entity and scope, as the Response that answers with it (without hops)."""

    __slots__ = ("key", "provider", "response", "valid_begin", "valid_end")

    def __init__(self, key: RawKey, provider: str, valid_begin: int, valid_end: int, response: bytes) -> None:
        self.key = key
        self.provider = intern(provider)  # thousands of entries share a few
        self.valid_begin = valid_begin
        self.valid_end = valid_end
        self.response = response

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
    """What became of a message about data."""

    STORED = auto()
    UNCHANGED = auto()
    """Older than what is there, or expired already."""
    FULL = auto()


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
        return _latest_valid(self._several.get(key, {}).values(), wall_ms)

    def __iter__(self) -> Iterator[Entry]:
        for key, newest in self.index.items():
            if key in self._several:
                yield from self._several[key].values()
            else:
                yield newest


def djb2(text: bytes) -> int:
    """Bernstein's hash, 32 bits: the prototype's key."""
    value = 5381
    for byte in text:
        value = (value * 33 + byte) & 0xFFFFFFFF
    return value


class Linear:
    """The prototype's table: a map under the DJB hash of the four names run together, searched from end to end.

    The cost of the search is its point. What is not kept is the silent overwriting where two hashes agree
    (``sensorEz`` and ``sensorFY``, or ``ab``+``c`` and ``a``+``bc``): such entries share a slot.
    """

    index: Mapping[RawKey, Entry] = MappingProxyType({})

    def __init__(self) -> None:
        self._map: dict[int, list[Entry]] = {}
        self._scanned = self._matched = 0

    @property
    def compared(self) -> tuple[int, int]:
        return self._scanned, self._matched

    def get(self, key: RawKey, provider: str) -> Entry | None:
        for entry in self._map.get(self._hash(key, provider), ()):
            if entry.key == key and entry.provider == provider:
                return entry
        return None

    def put(self, entry: Entry) -> None:
        slot = self._map.setdefault(self._hash(entry.key, entry.provider), [])
        for position, other in enumerate(slot):
            if other.key == entry.key and other.provider == entry.provider:
                slot[position] = entry
                return
        slot.append(entry)

    def remove(self, entry: Entry) -> None:
        hashed = self._hash(entry.key, entry.provider)
        self._map[hashed].remove(entry)
        if not self._map[hashed]:
            del self._map[hashed]

    def newest(self, key: RawKey, wall_ms: int) -> Entry | None:
        matching = [entry for slot in self._map.values() for entry in slot if entry.key == key]
        self._scanned += len(self._map)
        self._matched += len(matching)
        return _latest_valid(matching, wall_ms)

    def __iter__(self) -> Iterator[Entry]:
        return (entry for slot in self._map.values() for entry in slot)

    @staticmethod
    def _hash(key: RawKey, provider: str) -> int:
        return djb2(provider.encode() + key.replace(b"|", b""))


class Reckoned(Linear):
    """What ``Linear`` finds, and counts as compared, without the search: in virtual time a model says what that takes.

    With a thousand providers of one entity the searches themselves would be half of what a simulation costs.
    """

    _hash = staticmethod(lru_cache(1 << 12)(Linear._hash))

    def __init__(self) -> None:
        super().__init__()
        self._about: Counter[RawKey] = Counter()
        """How many entries there are of a key."""
        self._latest: dict[RawKey, Entry] = {}
        """Of a key, the first of those with the latest timestamp, valid or not; no entry where that is not known."""
        self._places: dict[int, int] = {}
        """Of each slot, a number that grows in the order in which a scan comes to them."""
        self._made = count()

    def put(self, entry: Entry) -> None:
        key, latest = entry.key, self._latest.get(entry.key)
        self._about[key] += self.get(key, entry.provider) is None
        slot = self._hash(key, entry.provider)
        if slot not in self._places:
            self._places[slot] = next(self._made)
        super().put(entry)
        if self._about[key] == 1 or (latest is not None and self._goes_before(entry, latest)):
            self._latest[key] = entry

    def remove(self, entry: Entry) -> None:
        super().remove(entry)
        slot = self._hash(entry.key, entry.provider)
        if slot not in self._map:
            del self._places[slot]
        self._about[entry.key] -= 1
        if not self._about[entry.key]:
            del self._about[entry.key]
        if self._latest.get(entry.key) is entry:
            del self._latest[entry.key]

    def newest(self, key: RawKey, wall_ms: int) -> Entry | None:
        if key not in self._about:
            self._scanned += len(self._map)
            return None
        latest = self._latest.get(key)
        if latest is None:
            about = (entry for entry in self if entry.key == key)
            latest = self._latest[key] = max(about, key=attrgetter("timestamp"))
        if not latest.is_valid(wall_ms):
            return super().newest(key, wall_ms)
        self._scanned += len(self._map)
        self._matched += self._about[key]
        return latest

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` where the books are not those of what it keeps."""
        assert self._about == Counter(entry.key for entry in self)
        assert list(self._map) == sorted(self._places, key=self._places.__getitem__)
        for key, latest in self._latest.items():
            assert latest is max((entry for entry in self if entry.key == key), key=attrgetter("timestamp"))

    def _goes_before(self, entry: Entry, latest: Entry) -> bool:
        if entry.timestamp != latest.timestamp:
            return entry.timestamp > latest.timestamp
        one, other = (self._hash(each.key, each.provider) for each in (entry, latest))
        if one == other:
            return self._map[one].index(entry) < self._map[one].index(latest)
        return self._places[one] < self._places[other]


def _latest_valid(entries: Iterable[Entry], wall_ms: int) -> Entry | None:
    """The first of those with the latest timestamp. A loop, as this is what a linear table spends its time on."""
    latest, at = None, -1
    for entry in entries:
        if entry.is_valid(wall_ms) and (stamp := entry.timestamp) > at:
            latest, at = entry, stamp
    return latest


KINDS: dict[str, type[Indexed] | type[Linear]] = {"indexed": Indexed, "linear": Linear}


class Table:
    """Entries of one broker. Times are wall-clock Unix milliseconds."""

    __slots__ = ("_expiries", "_kind", "_most_bytes", "_most_entries", "bytes", "entries", "expired")

    def __init__(self, kind: str, most_entries: int, most_bytes: int) -> None:
        self._kind: Kind = KINDS[kind]()
        self._most_entries = most_entries
        self._most_bytes = most_bytes
        self.entries = 0
        self.bytes = 0
        """Of the stored Responses: payloads, names and validity."""
        self.expired = 0
        """How many entries were dropped after their ValidEnd, ever."""
        self._expiries: list[tuple[int, RawKey, str]] = []
        """A heap of when to look at an entry again: too early is harmless, too late never happens."""

    def spare_scans(self) -> None:
        """Find what a scan would and count what it would look at, without looking. To be called while it is empty."""
        assert not self.entries
        if isinstance(self._kind, Linear):
            self._kind = Reckoned()

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
        """Store by the rule above; ``UNCHANGED`` and ``FULL`` change nothing that is valid."""
        if entry.valid_end <= wall_ms:
            return Stored.UNCHANGED
        known = self._live(entry, wall_ms)
        if known is not None and known.timestamp >= entry.timestamp:
            return Stored.UNCHANGED
        if not self._fits(entry, known):
            while not self._fits(entry, known) and self.expire(wall_ms):
                pass
            if not self._fits(entry, known):
                return Stored.FULL
        self._kind.put(entry)
        self.entries += known is None
        self.bytes += len(entry.response) - (len(known.response) if known else 0)
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

    def _fits(self, entry: Entry, known: Entry | None) -> bool:
        entries = self.entries + (known is None)
        size = self.bytes + len(entry.response) - (len(known.response) if known else 0)
        return entries <= self._most_entries and size <= self._most_bytes

    def _drop(self, entry: Entry) -> None:
        self._kind.remove(entry)
        self.entries -= 1
        self.bytes -= len(entry.response)
        self.expired += 1

    def _watch(self, entry: Entry, wall_ms: int) -> None:
        """Look again at ValidEnd, but within a day, so that no timer is absurdly far away."""
        heappush(self._expiries, (min(entry.valid_end, wall_ms + _DAY_MS), entry.key, entry.provider))
        if len(self._expiries) > 2 * self.entries + 64:
            self._expiries = [(min(e.valid_end, wall_ms + _DAY_MS), e.key, e.provider) for e in self._kind]
            heapify(self._expiries)

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` where the books do not balance."""
        kept = list(self._kind)
        assert self.entries == len(kept) == len({(e.key, e.provider) for e in kept}) <= self._most_entries
        assert self.bytes == sum(len(e.response) for e in kept) <= self._most_bytes
        assert len(self._expiries) <= 2 * self._most_entries + 64
        watched = {item[1:]: item[0] for item in sorted(self._expiries, reverse=True)}
        assert all(watched[e.key, e.provider] <= e.valid_end for e in kept)
        if isinstance(self._kind, Reckoned):
            self._kind.check_invariants()
