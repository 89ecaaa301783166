"""Replicas that follow their original: newer values go down the tree of replicas, and so does the word that none came.

Counterparts: ``searching`` notes whom it marked in a Response; ``storing`` hands over every value that has become newer
and takes ReplicaRefresh (33) and ReplicaConfirm (34) at the other end. A replica passes on what it takes to those that
*it* had keep one. Each broker passes on strictly newer values, and strictly newer confirmations, only.

A replica is served for one lease after it was last confirmed, by monotonic time::

    original ── 33 at each update, else 34 four times in a lease ──> replica ── both ──> its replicas
                                                                        └─ neither for a lease: dropped

Without the lease, the death of a broker between cut off all replicas behind it: they served what they had until its
ValidEnd. A replica taken from a Response may not have others keep one before it was confirmed, or a row of replicas,
each taken at the end of the last one's lease, would grow old without bound. So no answer is more than two leases, and
what datagrams took on their way, older than the value that a living original would have given.

What is noted is a path that others wrote. It therefore gives nobody a right: what goes to an address outside the
trusted networks is held to three times its bytes, as everything is.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator

from overlay.core.addresses import Address
from overlay.systems.context_broker.broker.table import Entry
from overlay.systems.context_broker.wire.messages import RawKey

MOST_REPLICAS = 10_000
"""Addresses that are remembered in all; beyond, those of the entry noted or refreshed longest ago are forgotten."""

MOST_OF_ONE = 64
"""Addresses that are remembered of one entry, the latest: the most datagrams of one update or confirmation."""

Name = tuple[RawKey, str]
"""An entry: its key and its provider."""


CONFIRMED_IN_A_LEASE = 4
"""How often an original that does not change is confirmed: three lost confirmations in a row cost no replica."""


class Replicas:
    """Who keeps a replica because this broker said so, until the value's ValidEnd, and when to confirm the value next.

    Ends are Unix milliseconds, as validity is; ``now`` and ``gap``, between two confirmations, monotonic nanoseconds.
    """

    __slots__ = ("_count", "_due", "_gap", "_keepers", "_most", "_most_of_one")

    def __init__(self, gap: int, most: int = MOST_REPLICAS, most_of_one: int = MOST_OF_ONE) -> None:
        self._gap = gap
        self._most = most
        self._most_of_one = most_of_one
        self._due: OrderedDict[Name, int] = OrderedDict()
        """When the value is to be confirmed next, the earliest first, as all gaps are alike."""
        self._keepers: OrderedDict[Name, tuple[int, dict[Address, None]]] = OrderedDict()
        """Until when, and who."""
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def note(self, entry: Entry, keepers: Iterable[Address], wall_ms: int, now: int) -> None:
        """``keepers`` are being asked to keep ``entry``."""
        self._forget(wall_ms)
        name = entry.key, entry.provider
        known = self._take(name, wall_ms)
        for keeper in keepers:  # the latest behind, and beyond the most the earliest forgotten
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
        """Who is to be told that ``entry`` is the value now; they are remembered until it ends."""
        name = entry.key, entry.provider
        keepers = self._take(name, wall_ms)
        self._put(name, entry.valid_end, keepers)
        self._due.pop(name, None)
        if name in self._keepers:
            self._due[name] = now + self._gap
        return tuple(keepers)

    def due(self, now: int) -> Iterator[Name]:
        """The entries to be confirmed; one that still is to be after this gap must be renewed."""
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
        """Those in front whose value has ended; one behind is found to have ended when it is met."""
        while self._keepers and next(iter(self._keepers.values()))[0] <= wall_ms:
            ended, (_, those) = self._keepers.popitem(last=False)
            self._due.pop(ended, None)
            self._count -= len(those)

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` where the books disagree."""
        assert self._count == sum(len(keepers) for _, keepers in self._keepers.values()) <= self._most
        assert all(1 <= len(keepers) <= self._most_of_one for _, keepers in self._keepers.values())
        assert list(self._due.values()) == sorted(self._due.values())
        assert self._due.keys() <= self._keepers.keys()


class Leases:
    """Until when each replica here may be served, unless it is confirmed before. Times are monotonic nanoseconds."""

    __slots__ = ("_leases", "_length")

    def __init__(self, length: int) -> None:
        self._length = length
        self._leases: OrderedDict[Name, tuple[int, int | None]] = OrderedDict()
        """When it ends, the earliest first, as all are of one length; and the latest confirmation's timestamp.

        That is ``None`` of a replica that was only taken from a Response, and 0 of one that was refreshed since.
        """

    def __len__(self) -> int:
        return len(self._leases)

    def begin(self, name: Name, now: int) -> None:
        """A replica was taken from a Response."""
        self._set(name, now, None)

    def refresh(self, name: Name, now: int) -> None:
        """A newer value came from where the replica did."""
        self._set(name, now, self._confirmed(name) or 0)

    def confirm(self, name: Name, timestamp: int, now: int) -> bool:
        """Whether a confirmation is newer than any before, which the replica then lives on."""
        if timestamp <= (self._confirmed(name) or 0):
            return False
        self._set(name, now, timestamp)
        return True

    def is_confirmed(self, name: Name) -> bool:
        return self._confirmed(name) is not None

    def end(self, name: Name) -> None:
        self._leases.pop(name, None)

    def keep(self, is_replica: Callable[[Name], bool]) -> None:
        """Forget those of replicas that are gone before their time: evicted, ended, or replaced by own data."""
        for name in [name for name in self._leases if not is_replica(name)]:
            del self._leases[name]

    def due(self, now: int) -> Iterator[Name]:
        """Those that have ended, and are forgotten."""
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
        """Raise ``AssertionError`` where the earliest is not the first."""
        ends = [until for until, _ in self._leases.values()]
        assert ends == sorted(ends)
