"""Updates, advertisements and replicas: stores them, and informs providers and replicas."""

from __future__ import annotations

from collections.abc import Iterable

from overlay.core.addresses import Address
from overlay.core.node import MILLISECOND
from overlay.systems.context_broker.broker.entries import Entry, Replica, Stored, Withdrawn
from overlay.systems.context_broker.broker.feeding import Feeding
from overlay.systems.context_broker.broker.giving import Giving
from overlay.systems.context_broker.broker.queries import Answer
from overlay.systems.context_broker.broker.refresh import CONFIRMED_IN_A_LEASE, Leases, Replicas
from overlay.systems.context_broker.broker.station import Station
from overlay.systems.context_broker.broker.table import Table
from overlay.systems.context_broker.wire.extensions import ReplicaConfirm, ReplicaRefresh
from overlay.systems.context_broker.wire.feed_messages import FeedRequest, Withdraw
from overlay.systems.context_broker.wire.messages import ContextUpdateAdvertisement, Status, key_of, raw_key
from overlay.systems.context_broker.wire.table import OPERATIONS

UPDATE, WITHDRAWAL = OPERATIONS[2], OPERATIONS[37]
SPARE_LEASES = 64
"""When there are more leases than twice the replicas plus this, leases of removed replicas are cleaned up."""
SWEEP_GAP = 10 * MILLISECOND
"""Interval between two sweeps of expired entries, each of which checks a thousand."""


class Storing:
    __slots__ = ("_next_sweep", "_station", "feeding", "giving", "leases", "replicas", "table")

    def __init__(self, station: Station) -> None:
        config = station.config
        self._station = station
        self.table = Table(config)
        lease = config.replica_lease_ms * MILLISECOND
        self.replicas = Replicas(lease // CONFIRMED_IN_A_LEASE) if config.replica_refresh else None
        self.leases = Leases(lease) if config.replica_refresh else None
        self.feeding: Feeding | None = None
        """Once a reader has asked for changes."""
        self._next_sweep = 0
        self.giving: Giving | None = None
        """Gives entries to neighbours, once the broker is about to leave."""

    def handle_update(self, message: ContextUpdateAdvertisement, source: Address, now: int) -> None:
        self.take_update(Entry.of(message), source, now)

    def take_update(self, entry: Entry, source: Address, now: int, operation: str = UPDATE) -> None:
        """Store an update or a withdrawal, and answer."""
        station, timestamp = self._station, entry.timestamp
        if self.is_from_the_future(timestamp, now):
            station.counters["rejected_stamp"] += 1
            station.nack(Status.BAD_REQUEST, operation, timestamp, source, now)
            return
        station.ack(Status.REQ_RECEIVED, operation, source, now)
        entry.source = station.payer(source)
        stored = self.store(entry, now)
        if stored is Stored.STORED:
            station.counters[entry.counted_as] += 1
            if self.replicas:
                self._refresh(entry, self.replicas, now)
        else:
            station.counters[stored.value] += 1
            if stored.is_refused:
                station.nack(Status.I_ERROR, operation, timestamp, source, now)
                return
        station.ack(Status.REQ_PROCESSED, operation, source, now)

    def handle_withdrawal(self, message: Withdraw, source: Address, now: int) -> None:
        """Put the withdrawal in the entry's place, by the rule of updates, so that older ones that come later lose.

        It stays until the latest ValidEnd known to its sender or to us, else for ``withdrawal_ms``.
        """
        wall_ms = self._station.wall_ms(now)
        known = self.table.held(raw_key(message.key), message.provider_id, wall_ms)
        until = max(message.until, 0 if known is None else known.valid_end)
        withdrawn = Withdrawn.by(message, until or wall_ms + self._station.config.withdrawal_ms)
        self.take_update(withdrawn, source, now, WITHDRAWAL)

    def tell_changes(self, request: FeedRequest, source: Address, epoch: int, now: int) -> None:
        """Answer a reader of the feed; see ``feeding``."""
        if self.feeding is None:
            self.feeding = Feeding(self._station, self.table, epoch)
        self.feeding.handle_request(request, source, now)

    def keep_replica(self, answer: Answer, now: int) -> bool:
        """Store a replica by the rule of updates, without answering; ``False`` if a newer value is stored or there is
        no room."""
        replica = answer.replica()
        if self.is_from_the_future(replica.timestamp, now):
            return False
        if self.store(replica, now) is not Stored.STORED:
            return False
        self._station.counters["replicas"] += 1
        if self.leases is not None:
            self.leases.begin((replica.key, replica.provider), now)
            if len(self.leases) > 2 * self.table.replicas + SPARE_LEASES:
                self._forget_leases(self.leases, now)
        return True

    def _forget_leases(self, leases: Leases, now: int) -> None:
        wall_ms = self._station.wall_ms(now)
        leases.keep(lambda name: isinstance(self.table.held(*name, wall_ms), Replica))

    def may_replicate(self, entry: Entry) -> bool:
        """Whether ``entry`` may be replicated: not if it is an unconfirmed replica."""
        if self.leases is None or not isinstance(entry, Replica):
            return True
        return self.leases.is_confirmed((entry.key, entry.provider))

    def note_replicas(self, entry: Entry, keepers: Iterable[Address], now: int) -> None:
        """Record that these brokers are asked to keep a replica of ``entry``."""
        if self.replicas is not None:
            self.replicas.note(entry, keepers, self._station.wall_ms(now), now)

    def handle_refresh(self, refresh: ReplicaRefresh, source: Address, now: int) -> None:
        """Accept a newer value of an existing replica only; never answered."""
        held = self._replica_of(refresh, source, now)
        if held is None:
            return
        entry = Replica.of(refresh)
        if self.store(entry, now) is Stored.STORED:
            self._station.counters["refreshed"] += 1
            assert self.leases is not None
            self.leases.refresh((entry.key, entry.provider), now)
            if self.replicas:
                self._refresh(entry, self.replicas, now)

    def handle_confirm(self, confirm: ReplicaConfirm, source: Address, now: int) -> None:
        """Renew the lease of a replica, or drop it if it missed a newer value; never answered."""
        held = self._replica_of(confirm, source, now)
        if held is None or held.timestamp > confirm.stored:
            return
        name = held.key, held.provider
        assert self.leases is not None
        if held.timestamp < confirm.stored:
            self._drop_replica(held)
        elif not self.leases.confirm(name, confirm.timestamp, now):
            return
        self._confirm(held, confirm, now)

    def _replica_of(self, message: ReplicaRefresh | ReplicaConfirm, source: Address, now: int) -> Replica | None:
        """The replica concerned by a message of its holder; other messages are counted and refused."""
        station = self._station
        if not station.open_network.trusts(source):
            station.counters["rejected_command"] += 1
            return None
        held = self.table.held(raw_key(message.key), message.provider_id, station.wall_ms(now))
        if not isinstance(held, Replica) or self.is_from_the_future(message.timestamp, now):
            station.counters["rejected_stray"] += 1
            return None
        return held

    def handle_timer(self, now: int) -> None:
        expiry = self._next_expiry()
        if expiry is not None and expiry <= now:
            self._next_sweep = now + SWEEP_GAP
            self.table.expire(self._station.wall_ms(now))
        if self.replicas is not None:
            self.end_leases(now)
            self._confirm_originals(self.replicas, now)
        if self.feeding is not None:
            self.feeding.handle_timer(now)

    def next_timer(self) -> int | None:
        timers = [self._next_expiry()]
        if self.leases is not None and self.replicas is not None:
            timers += [self.leases.next_timer(), self.replicas.next_timer()]
        if self.feeding is not None:
            timers.append(self.feeding.next_timer())
        return min((timer for timer in timers if timer is not None), default=None)

    def _next_expiry(self) -> int | None:
        """The monotonic time of the next expiry, if the wall clock is not stepped."""
        expiry = self.table.next_expiry()
        if expiry is None:
            return None
        return max(expiry * MILLISECOND - self._station.wall_offset_ns, self._next_sweep)

    def end_leases(self, now: int) -> None:
        """Drop replicas whose leases have ended. Also called before answering: after a pause of the process, requests
        are waiting and its timers run later.
        """
        for key, provider in () if self.leases is None else self.leases.due(now):
            held = self.table.held(key, provider, self._station.wall_ms(now))
            if isinstance(held, Replica):
                self._drop_replica(held)

    def _drop_replica(self, replica: Replica) -> None:
        assert self.leases is not None
        self.leases.end((replica.key, replica.provider))
        self.table.remove(replica)
        self._station.counters["replicas_lapsed"] += 1

    def _confirm_originals(self, replicas: Replicas, now: int) -> None:
        wall_ms = self._station.wall_ms(now)
        for key, provider in list(replicas.due(now)):
            held = self.table.held(key, provider, wall_ms)
            if held is not None and not isinstance(held, Replica):
                self._confirm(held, _confirmation(held, wall_ms), now)

    def _confirm(self, entry: Entry, confirm: ReplicaConfirm, now: int) -> None:
        """Send a confirmation to brokers with replicas of ``entry``."""
        assert self.replicas is not None
        station = self._station
        for keeper in self.replicas.renew(entry, station.wall_ms(now), now):
            station.counters["confirms_sent"] += station.send_message(confirm, keeper, now)

    def _refresh(self, entry: Entry, replicas: Replicas, now: int) -> None:
        """Send the value to brokers with older replicas, or let them drop what is withdrawn."""
        station = self._station
        if entry.is_withdrawn:
            self._confirm(entry, _confirmation(entry, station.wall_ms(now)), now)
            return
        keepers = replicas.renew(entry, station.wall_ms(now), now)
        if not keepers:
            return
        times = entry.valid_begin, entry.valid_end
        refresh = ReplicaRefresh(entry.timestamp, entry.provider, *key_of(entry.key), *times, entry.payload)
        for keeper in keepers:
            station.counters["refreshes_sent"] += station.send_message(refresh, keeper, now)

    def store(self, entry: Entry, now: int) -> Stored:
        """Store an entry; reports if the table is full or a share is used up."""
        stored = self.table.store(entry, self._station.wall_ms(now))
        if self.giving is not None and stored is Stored.STORED:
            self.giving.note(entry, now)
        if stored is not Stored.STORED and stored.is_refused:
            self._station.report_limit("table" if stored is Stored.FULL else "table share", now)
        return stored

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if the state is inconsistent."""
        self.table.check_invariants()
        if self.replicas is not None:
            self.replicas.check_invariants()
        if self.leases is not None:
            self.leases.check_invariants()
        if self.feeding is not None:
            self.feeding.check_invariants()

    def is_from_the_future(self, timestamp: int, now: int) -> bool:
        return timestamp > self._station.wall_ms(now) + self._station.config.clock_window_ms


def _confirmation(entry: Entry, wall_ms: int) -> ReplicaConfirm:
    """Of the newest value; where it is withdrawn, of one that is newer than all that are withdrawn."""
    newest = entry.timestamp + entry.is_withdrawn
    return ReplicaConfirm(wall_ms, entry.provider, *key_of(entry.key), newest)
