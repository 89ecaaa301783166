"""Refresh of replicas: newer values, or confirmations without one, travel down the tree of replicas.

Counterparts: ``searching`` records the brokers that it marked in a Response; ``storing`` passes every newer value
and handles ReplicaRefresh (33) and ReplicaConfirm (34) at the other end. A broker with a replica forwards what it
accepts to the brokers that *it* had marked. Only strictly newer values and confirmations are forwarded.

A replica is used for one lease after its last confirmation, in monotonic time::

    original ── 33 at each update, else 34 four times in a lease ──> replica ── both ──> its replicas
                                                                        └─ neither for a lease: dropped

Without leases, the death of a broker in between would cut off the replicas below it, and they would serve their value
until its ValidEnd. A replica from a Response is not copied before it is confirmed. Otherwise a chain of replicas,
each created at the end of the previous one's lease, could become arbitrarily old. An answer is therefore at most two
leases, plus the travel time of datagrams, older than the answer of a live original.

The recorded addresses come from paths written by others. They get no privileges: messages to an address outside the
trusted networks are limited to three times the bytes received from it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator

from overlay.core.addresses import Address
from overlay.systems.context_broker.broker.entries import Entry
from overlay.systems.context_broker.wire.messages import RawKey

MOST_REPLICAS = 10_000
"""Maximum addresses in total; beyond it, those of the least recently used entry are forgotten."""

MOST_OF_ONE = 64
"""Maximum addresses per entry, the latest ones, and so the maximum datagrams per update or confirmation."""

Name = tuple[RawKey, str]
"""An entry: its key and its provider."""


CONFIRMED_IN_A_LEASE = 4
"""Confirmations per lease of an unchanged original. A replica survives three consecutive lost ones."""


class Replicas:
    """The brokers with replicas created by this broker, until the value's ValidEnd, and the next confirmation.

    Ends are Unix milliseconds, like validity; ``now`` and ``gap``, between two confirmations, monotonic nanoseconds.
    """

    __slots__ = ("_count", "_due", "_gap", "_keepers", "_most", "_most_of_one")

    def __init__(self, gap: int, most: int = MOST_REPLICAS, most_of_one: int = MOST_OF_ONE) -> None:
        self._gap = gap
        self._most = most
        self._most_of_one = most_of_one
        self._due: OrderedDict[Name, int] = OrderedDict()
        """The time of the next confirmation by entry, the earliest first, as all gaps are equal."""
        self._keepers: OrderedDict[Name, tuple[int, dict[Address, None]]] = OrderedDict()
        """The end and the brokers, by entry."""
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def note(self, entry: Entry, keepers: Iterable[Address], wall_ms: int, now: int) -> None:
        """Record that ``keepers`` are asked to keep ``entry``."""
        self._forget(wall_ms)
        name = entry.key, entry.provider
        known = self._take(name, wall_ms)
        for keeper in keepers:  # the latest at the end; beyond the maximum the earliest are forgotten
            known.pop(keeper, None)
            known[keeper] = None
            if len(known) > self._most_of_one:
                del known[next(iter(known))]
        self._put(name, entry.valid_end, known)
        if name in self._keepers:
            self._due.setdefault(name, now + self._gap)
        else:
            self._due.pop(name, None)

    def renew(self, entry: Entry, wall_ms: int, now: int) -> tuple[Address, ...]:
        """The brokers to inform about the new value ``entry``; they are kept until its end."""
        name = entry.key, entry.provider
        keepers = self._take(name, wall_ms)
        self._put(name, entry.valid_end, keepers)
        self._due.pop(name, None)
        if name in self._keepers:
            self._due[name] = now + self._gap
        return tuple(keepers)

    def due(self, now: int) -> Iterator[Name]:
        """The entries due for confirmation; call ``renew`` for each to schedule the next one."""
        while (timer := self.next_timer()) is not None and timer <= now:
            yield self._due.popitem(last=False)[0]

    def next_timer(self) -> int | None:
        return next(iter(self._due.values()), None)

    def _take(self, name: Name, wall_ms: int) -> dict[Address, None]:
        until, keepers = self._keepers.pop(name, (0, {}))
        self._count -= len(keepers)
        return keepers if until > wall_ms else {}

    def _put(self, name: Name, until: int, keepers: dict[Address, None]) -> None:
        if not keepers:
            return
        self._keepers[name] = until, keepers
        self._count += len(keepers)
        while self._count > self._most:
            forgotten, (_, those) = self._keepers.popitem(last=False)
            self._due.pop(forgotten, None)
            self._count -= len(those)

    def _forget(self, wall_ms: int) -> None:
        """Remove expired entries at the front; others are removed when they are used."""
        while self._keepers and next(iter(self._keepers.values()))[0] <= wall_ms:
            ended, (_, those) = self._keepers.popitem(last=False)
            self._due.pop(ended, None)
            self._count -= len(those)

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if the state is inconsistent."""
        assert self._count == sum(len(keepers) for _, keepers in self._keepers.values()) <= self._most
        assert all(1 <= len(keepers) <= self._most_of_one for _, keepers in self._keepers.values())
        assert list(self._due.values()) == sorted(self._due.values())
        assert self._due.keys() <= self._keepers.keys()


class Leases:
    """The lease of each replica on this broker. Times are monotonic nanoseconds."""

    __slots__ = ("_leases", "_length")

    def __init__(self, length: int) -> None:
        self._length = length
        self._leases: OrderedDict[Name, tuple[int, int | None]] = OrderedDict()
        """The end of each lease, the earliest first, as all have the same length, and the latest confirmation's
        timestamp.

        The latter is ``None`` for a replica from a Response, and 0 after a refresh.
        """

    def __len__(self) -> int:
        return len(self._leases)

    def begin(self, name: Name, now: int) -> None:
        """Start the lease of a replica from a Response."""
        self._set(name, now, None)

    def refresh(self, name: Name, now: int) -> None:
        """Renew the lease after a newer value from the replica's source."""
        self._set(name, now, self._confirmed(name) or 0)

    def confirm(self, name: Name, timestamp: int, now: int) -> bool:
        """Renew the lease if a confirmation is newer than any before. Returns whether it is."""
        if timestamp <= (self._confirmed(name) or 0):
            return False
        self._set(name, now, timestamp)
        return True

    def is_confirmed(self, name: Name) -> bool:
        return self._confirmed(name) is not None

    def end(self, name: Name) -> None:
        self._leases.pop(name, None)

    def keep(self, is_replica: Callable[[Name], bool]) -> None:
        """Remove leases of replicas that are gone: evicted, expired, or replaced by own data."""
        for name in [name for name in self._leases if not is_replica(name)]:
            del self._leases[name]

    def due(self, now: int) -> Iterator[Name]:
        """Remove and return the replicas whose leases have ended."""
        while (timer := self.next_timer()) is not None and timer <= now:
            yield self._leases.popitem(last=False)[0]

    def next_timer(self) -> int | None:
        return next((until for until, _ in self._leases.values()), None)

    def _confirmed(self, name: Name) -> int | None:
        return self._leases.get(name, (0, None))[1]

    def _set(self, name: Name, now: int, confirmed: int | None) -> None:
        self._leases[name] = now + self._length, confirmed
        self._leases.move_to_end(name)

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` if the leases are not in order."""
        ends = [until for until, _ in self._leases.values()]
        assert ends == sorted(ends)
