"""The prototype's table, a linear scan, and its model for simulations.

Counterpart: ``table`` has the entries and the indexed table.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import count
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING

from overlay.systems.context_broker.wire.messages import RawKey

if TYPE_CHECKING:
    from overlay.systems.context_broker.broker.entries import Entry


def djb2(text: bytes) -> int:
    """Bernstein's hash, 32 bits: the prototype's key."""
    value = 5381
    for byte in text:
        value = (value * 33 + byte) & 0xFFFFFFFF
    return value


class Linear:
    """The prototype's table: a map under the DJB hash of the four concatenated names, searched linearly.

    It exists for the cost of its search. Unlike the prototype, it does not silently overwrite entries with equal hashes
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
        return latest_valid(matching, wall_ms)

    def __iter__(self) -> Iterator[Entry]:
        return (entry for slot in self._map.values() for entry in slot)

    @staticmethod
    def _hash(key: RawKey, provider: str) -> int:
        return djb2(provider.encode() + key.replace(b"|", b""))


class Modelled(Linear):
    """The results of ``Linear`` and its counts of compared entries, without the search, whose time is in the model.

    With a thousand providers of one entity the searches would be half of the cost of a simulation.
    """

    _hash = staticmethod(lru_cache(1 << 12)(Linear._hash))

    def __init__(self) -> None:
        super().__init__()
        self._about: Counter[RawKey] = Counter()
        """Number of entries by key."""
        self._latest: dict[RawKey, Entry] = {}
        """By key: the first entry with the latest timestamp, valid or not; missing if unknown."""
        self._places: dict[int, int] = {}
        """By slot: a number that increases in the order of the scan."""
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
        """Raise ``AssertionError`` if the derived state does not match the entries."""
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


def latest_valid(entries: Iterable[Entry], wall_ms: int) -> Entry | None:
    """The first valid entry with the latest timestamp. A plain loop, because a linear table spends its time here."""
    latest, at = None, -1
    for entry in entries:
        if entry.is_valid(wall_ms) and (stamp := entry.timestamp) > at:
            latest, at = entry, stamp
    return latest
