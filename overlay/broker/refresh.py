"""Replicas that follow their original: a holder tells a newer value to the brokers that it had keep the older one.

Counterparts: ``searching`` notes whom it marked in a Response; ``storing`` hands over every value that has become newer
and takes ReplicaRefresh (33) at the other end. A refreshed replica tells those that *it* had keep one, so that a value
goes down the tree of replicas. Each broker passes on strictly newer values only, so every value comes to its end.

What is noted is a path that others wrote. It therefore gives nobody a right: what goes to an address outside the
trusted networks is held to three times its bytes, as everything is.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator

from overlay.addresses import Address
from overlay.broker.messages import RawKey
from overlay.broker.table import Entry

MOST_REPLICAS = 10_000
"""Addresses that are remembered in all; beyond, those of the entry noted or refreshed longest ago are forgotten."""

MOST_OF_ONE = 64
"""Addresses that are remembered of one entry: the most datagrams that one update sends."""

Name = tuple[RawKey, str]
"""An entry: its key and its provider."""


class Replicas:
    """Who keeps a replica because this broker said so, until the value's ValidEnd. Times are Unix milliseconds."""

    __slots__ = ("_count", "_keepers", "_most", "_most_of_one")

    def __init__(self, most: int = MOST_REPLICAS, most_of_one: int = MOST_OF_ONE) -> None:
        self._most = most
        self._most_of_one = most_of_one
        self._keepers: OrderedDict[Name, tuple[int, dict[Address, None]]] = OrderedDict()
        """Until when, and who."""
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def note(self, entry: Entry, keepers: Iterable[Address], wall_ms: int) -> None:
        """``keepers`` are being asked to keep ``entry``."""
        self._forget(wall_ms)
        name = entry.key, entry.provider
        known = self._take(name, wall_ms)
        for keeper in keepers:
            if len(known) < self._most_of_one:
                known[keeper] = None
        self._put(name, entry.valid_end, known)

    def renew(self, entry: Entry, wall_ms: int) -> Iterator[Address]:
        """Who is to be told that ``entry`` is the value now; they are remembered until it ends."""
        name = entry.key, entry.provider
        keepers = self._take(name, wall_ms)
        self._put(name, entry.valid_end, keepers)
        return iter(tuple(keepers))

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
            self._count -= len(self._keepers.popitem(last=False)[1][1])

    def _forget(self, wall_ms: int) -> None:
        """Those in front whose value has ended; one behind is found to have ended when it is met."""
        while self._keepers and next(iter(self._keepers.values()))[0] <= wall_ms:
            self._count -= len(self._keepers.popitem(last=False)[1][1])

    def check_invariants(self) -> None:
        """Raise ``AssertionError`` where the books disagree."""
        assert self._count == sum(len(keepers) for _, keepers in self._keepers.values()) <= self._most
        assert all(1 <= len(keepers) <= self._most_of_one for _, keepers in self._keepers.values())
