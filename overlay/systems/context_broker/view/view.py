"""The tables of all brokers of a network as one: an entry per key and provider, with its holders. Pure.

The driver asks each broker with ``ask``, gives ``read`` what arrives, and calls ``expire`` by ``next_expiry``. What a
broker held stays while it is silent, as it may only be cut off; it goes when the broker has restarted, or is no longer
one of those to ``keep``. Wall times are Unix milliseconds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from overlay.core.addresses import Address
from overlay.systems.context_broker.clients.feed_reader import FeedReader, Name, Record
from overlay.systems.context_broker.view.change_log import ChangeLog, Kind
from overlay.systems.context_broker.view.entries import Entry, is_same, merged
from overlay.systems.context_broker.view.name_index import NameIndex
from overlay.systems.context_broker.wire.messages import Key

WAIT_MS = 2_000
"""How long a question waits at a broker for a change. A lost answer delays the changes in it by that much."""
MOST_RECORDS = 500_000
"""Of all brokers together; a copy at each of three brokers counts as three."""
MOST_PAYLOAD_BYTES = 256_000_000

UNREAD, SILENT, REFUSED, FULL = "unread", "silent", "refused", "full"
"""Why the view lacks a broker's data, or may: its table has not been read to the end; it does not answer; it does not
trust this address; the view has no room."""


class NetworkView:
    """``epoch``: when it began, unlike that of any other view. Answers may have ``most_bytes``."""

    def __init__(
        self,
        epoch: int,
        *,
        wait_ms: int = WAIT_MS,
        most_bytes: int = 60_000,
        most_records: int = MOST_RECORDS,
        most_payload_bytes: int = MOST_PAYLOAD_BYTES,
        log: ChangeLog | None = None,
    ) -> None:
        self.log = log or ChangeLog(epoch)
        self._wait_ms = wait_ms
        self._most_bytes = most_bytes
        self._most_records = most_records
        self._most_payload_bytes = most_payload_bytes
        self._readers: dict[Address, FeedReader] = {}
        self._unheard: dict[Address, str] = {}
        """Brokers that do not answer, and why."""
        self._entries: dict[Name, Entry] = {}
        self._providers: dict[Key, tuple[str, ...]] = {}
        self._index = NameIndex(self._entries)

    # ---- what it knows

    def __len__(self) -> int:
        """The number of entries, with withdrawals."""
        return len(self._entries)

    @property
    def brokers(self) -> tuple[Address, ...]:
        return tuple(self._readers)

    @property
    def missing(self) -> Mapping[Address, str]:
        """Brokers of which something may be missing, each with the reason; none: the view is complete."""
        reasons = {broker: self._reason(broker, reader) for broker, reader in self._readers.items()}
        return {broker: reason for broker, reason in reasons.items() if reason}

    def valid(self, wall_ms: int) -> Iterator[Entry]:
        """The entries that are served now. Do not change the view meanwhile."""
        return (entry for entry in self._entries.values() if entry.record.is_valid(wall_ms))

    def about(self, key: Key, wall_ms: int) -> Sequence[Entry]:
        """Those of a key, one per provider, the latest first."""
        found = (self._entries[key, provider] for provider in self._providers.get(key, ()))
        valid = [entry for entry in found if entry.record.is_valid(wall_ms)]
        return sorted(valid, key=lambda entry: entry.record.timestamp, reverse=True)

    def latest_end(self, key: Key, provider: str) -> int:
        """The latest ValidEnd of any value of this entry, at any broker; 0 if there is none."""
        entry = self._entries.get((key, provider))
        records = [] if entry is None else [self._record_of(broker, (key, provider)) for broker in entry.known]
        return max((record.valid_end for record in records if record is not None), default=0)

    def page(self, after: Name, most: int) -> tuple[Sequence[Entry], Name | None]:
        """The entries among the next ``most`` names behind ``after``, in the order of keys and providers, and where to
        continue; ``None`` at the end. Withdrawals are among them."""
        names, following = self._index.page(after, most)
        return [self._entries[name] for name in names], following

    # ---- following

    def keep(self, brokers: Collection[Address], wall_ms: int) -> None:
        """These are the network's brokers now; what only others held is dropped."""
        self.expire(wall_ms)
        for broker in [one for one in self._readers if one not in brokers]:
            names = list(self._readers.pop(broker).records)
            self._unheard.pop(broker, None)
            self._merge_all(names, wall_ms)
        for broker in brokers:
            if broker not in self._readers:
                self._readers[broker] = FeedReader(self._wait_ms, self._most_bytes)

    def waits_ms(self, broker: Address) -> int:
        """How long the next question may wait at the broker."""
        return 0 if self._readers[broker].has_more else self._wait_ms

    def ask(self, broker: Address, stamp: int, *, waits: bool = True) -> bytes:
        """The next question to a broker, as ``FeedReader.ask``."""
        return self._readers[broker].ask(stamp, waits=waits)

    def read(self, broker: Address, data: bytes, wall_ms: int) -> bool:
        """Take what came from a broker. Returns whether it answers the question."""
        reader = self._readers.get(broker)
        if reader is None:
            return False
        self.expire(wall_ms)
        answered = reader.answered_stamp
        self._make_room(reader)
        changes = reader.read(data, wall_ms)
        if reader.answered_stamp == answered:
            return False
        self._unheard.pop(broker, None)
        self._merge_all(dict.fromkeys(record.name for record in changes), wall_ms, broker)
        return True

    def is_read(self, broker: Address, stamp: int) -> bool:
        """Whether a question of this timestamp, or a later one, was answered, and all of the answer read."""
        reader = self._readers.get(broker)
        return reader is not None and reader.answered_stamp >= stamp and not reader.has_more

    def is_refusal(self, broker: Address, data: bytes) -> bool:
        """As ``FeedReader.is_refusal``."""
        return broker in self._readers and self._readers[broker].is_refusal(data)

    def unheard(self, broker: Address, reason: str = SILENT) -> None:
        """A broker does not answer. What it holds stays in the view."""
        if broker in self._readers:
            self._unheard[broker] = reason

    def expire(self, wall_ms: int) -> None:
        """Drop what has expired."""
        expired = [record.name for reader in self._readers.values() for record in reader.expire(wall_ms)]
        self._merge_all(expired, wall_ms)

    def next_expiry(self) -> int | None:
        """When ``expire`` may have something to drop."""
        ends = (reader.next_expiry() for reader in self._readers.values())
        return min((end for end in ends if end is not None), default=None)

    # ---- merging

    def _merge_all(self, names: Iterable[Name], wall_ms: int, broker: Address | None = None) -> None:
        for name in names:
            self._merge(name, wall_ms, broker)

    def _merge(self, name: Name, wall_ms: int, broker: Address | None) -> None:
        """Make the entry of this name again; ``broker`` may have it now and not before."""
        old = self._entries.get(name)
        known = old.known if old is not None else ()
        if broker is not None and broker not in known:
            known = (*known, broker)
        new = merged({one: record for one in known if (record := self._record_of(one, name)) is not None})
        if new is not None:
            self._entries[name] = new
            if old is None:
                self._index.add(name)
                self._providers[name[0]] = (*self._providers.get(name[0], ()), name[1])
        elif old is not None:
            self._forget(name)
        self._report(old, new, wall_ms)

    def _record_of(self, broker: Address, name: Name) -> Record | None:
        reader = self._readers.get(broker)
        return None if reader is None else reader.records.get(name)

    def _forget(self, name: Name) -> None:
        del self._entries[name]
        self._index.remove(name)
        key, provider = name
        left = tuple(one for one in self._providers[key] if one != provider)
        if left:
            self._providers[key] = left
        else:
            del self._providers[key]

    def _report(self, old: Entry | None, new: Entry | None, wall_ms: int) -> None:
        before = old.record if old is not None and old.record.is_held else None
        after = new.record if new is not None and new.record.is_held else None
        if new is not None and after is not None:
            if not is_same(before, after):
                self.log.add(Kind.STORED, after, before, new.holders)
        elif before is None:
            return
        elif new is not None:
            self.log.add(Kind.WITHDRAWN, new.record, before, ())
        else:
            self.log.add(Kind.EXPIRED if before.valid_end <= wall_ms else Kind.DROPPED, before, before, ())

    def _make_room(self, reader: FeedReader) -> None:
        """It may have what all of them together leave."""
        records = sum(len(one.records) for one in self._readers.values())
        payloads = sum(one.payload_bytes for one in self._readers.values())
        reader.most_records = max(0, self._most_records - records) + len(reader.records)
        reader.most_payload_bytes = max(0, self._most_payload_bytes - payloads) + reader.payload_bytes

    def _reason(self, broker: Address, reader: FeedReader) -> str:
        unread = "" if reader.is_complete else UNREAD
        return self._unheard.get(broker) or unread or (FULL if reader.left_out else "")

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` unless it is the union of the readers' tables."""
        self.log.check_invariants()
        names = {name for reader in self._readers.values() for name in reader.records}
        assert self._entries.keys() == names
        self._index.check_invariants(names)
        assert {(key, one) for key, providers in self._providers.items() for one in providers} == names
        assert all(len(set(providers)) == len(providers) for providers in self._providers.values())
        assert self._unheard.keys() <= self._readers.keys()
        for reader in self._readers.values():
            reader.check_invariants()
        for name, entry in self._entries.items():
            found = {one: reader.records[name] for one, reader in self._readers.items() if name in reader.records}
            assert set(entry.known) == set(found)
            again = merged(found)
            assert again is not None and set(again.holders) == set(entry.holders)
            assert is_same(again.record, entry.record)
        assert sum(len(reader.records) for reader in self._readers.values()) <= self._most_records
        assert sum(reader.payload_bytes for reader in self._readers.values()) <= self._most_payload_bytes
