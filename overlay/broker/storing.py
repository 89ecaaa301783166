"""Updates, advertisements and replicas: what goes into the table, and what its provider and its replicas are told."""

from __future__ import annotations

from collections.abc import Iterable

from overlay.addresses import Address
from overlay.broker.extensions import ReplicaRefresh
from overlay.broker.messages import OPERATIONS, Status, key_of, raw_key
from overlay.broker.refresh import Replicas
from overlay.broker.sliced import Answer
from overlay.broker.station import Station
from overlay.broker.table import Entry, Replica, Stored, Table
from overlay.node import MILLISECOND

UPDATE = OPERATIONS[2]
SWEEP_GAP = 10 * MILLISECOND
"""Between two sweeps of expired entries, each of which looks at a thousand."""

_COUNTER = {Stored.STORED: "stored", Stored.UNCHANGED: "outdated", Stored.FULL: "table_full"}


class Storing:
    __slots__ = ("_next_sweep", "_station", "replicas", "table")

    def __init__(self, station: Station) -> None:
        config = station.config
        self._station = station
        self.table = Table(config.table, config.table_entries, config.table_bytes)
        self.replicas = Replicas() if config.replica_refresh else None
        self._next_sweep = 0

    def handle_update(self, entry: Entry, source: Address, now: int) -> None:
        station, timestamp = self._station, entry.timestamp
        if self.is_from_the_future(timestamp, now):
            station.counters["rejected_stamp"] += 1
            station.nack(Status.BAD_REQUEST, UPDATE, timestamp, source, now)
            return
        station.ack(Status.REQ_RECEIVED, UPDATE, source, now)
        stored = self.store(entry, now)
        station.counters[_COUNTER[stored]] += 1
        if stored is Stored.STORED:
            self._refresh(entry, now)
        if stored is Stored.FULL:
            station.nack(Status.I_ERROR, UPDATE, timestamp, source, now)
        else:
            station.ack(Status.REQ_PROCESSED, UPDATE, source, now)

    def keep_replica(self, answer: Answer, now: int) -> bool:
        """By the rule of an update, but nobody is told; ``False`` where what is here is newer, or there is no room."""
        replica = answer.replica()
        if self.is_from_the_future(replica.timestamp, now):
            return False
        if self.store(replica, now) is not Stored.STORED:
            return False
        self._station.counters["replicas"] += 1
        return True

    def note_replicas(self, entry: Entry, keepers: Iterable[Address], now: int) -> None:
        """These are asked to keep a replica of ``entry``."""
        if self.replicas is not None:
            self.replicas.note(entry, keepers, self._station.wall_ms(now))

    def handle_refresh(self, refresh: ReplicaRefresh, source: Address, now: int) -> None:
        """Take a newer value for a replica that is here, and for nothing else; nobody is answered."""
        station = self._station
        if not station.open_network.trusts(source):
            station.counters["rejected_command"] += 1
            return
        held = self.table.held(raw_key(refresh.key), refresh.provider_id, station.wall_ms(now))
        if not isinstance(held, Replica) or self.is_from_the_future(refresh.timestamp, now):
            station.counters["rejected_stray"] += 1
            return
        entry = Replica.of(refresh)
        if self.store(entry, now) is Stored.STORED:
            station.counters["refreshed"] += 1
            self._refresh(entry, now)

    def handle_timer(self, now: int) -> None:
        timer = self.next_timer()
        if timer is not None and timer <= now:
            self._next_sweep = now + SWEEP_GAP
            self.table.expire(self._station.wall_ms(now))

    def next_timer(self) -> int | None:
        """Monotonic: where the wall clock will be at the next expiry if nobody steps it."""
        expiry = self.table.next_expiry()
        if expiry is None:
            return None
        return max(expiry * MILLISECOND - self._station.wall_offset_ns, self._next_sweep)

    def _refresh(self, entry: Entry, now: int) -> None:
        """Tell the value to those that were asked to keep an older one."""
        if not self.replicas:
            return
        station = self._station
        keepers = list(self.replicas.renew(entry, station.wall_ms(now)))
        if not keepers:
            return
        times = entry.valid_begin, entry.valid_end
        refresh = ReplicaRefresh(entry.timestamp, entry.provider, *key_of(entry.key), *times, entry.payload)
        for keeper in keepers:
            station.counters["refreshes_sent"] += station.send_message(refresh, keeper, now)

    def store(self, entry: Entry, now: int) -> Stored:
        """Into the table, which says when it is full."""
        stored = self.table.store(entry, self._station.wall_ms(now))
        if stored is Stored.FULL:
            self._station.report_limit("table", now)
        return stored

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` where the books disagree."""
        self.table.check_invariants()
        if self.replicas is not None:
            self.replicas.check_invariants()

    def is_from_the_future(self, timestamp: int, now: int) -> bool:
        return timestamp > self._station.wall_ms(now) + self._station.config.clock_window_ms
