"""The groups of one member over an engine that has none of its own: leases that change if no other member did::

heartbeat ── ask ──> leases, who is alive ── overlay.log.groups ── change (fails if they have changed) ──> assigned
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from overlay.log.groups import Key, Leases, beaten, joined
from overlay.log.member import Held, Member, Standing

OnLeases = Callable[[Any, Leases, Collection[str]], None]
"""A version, the leases of that version, and the members that are alive."""
OnChange = Callable[[Mapping[int, Standing] | None], None]
"""What was claimed; ``None``: the version was not the newest."""


class Seats(Protocol):
    """How an engine keeps leases."""

    def ask_leases(self, key: Key, then: OnLeases) -> None: ...

    def change_leases(self, key: Key, version: Any, leases: Leases, claims: Sequence[int], then: OnChange) -> None:
        """``claims``: the partitions that are new to the member."""
        ...

    def claimed(self, partitions: Sequence[Held], *, is_shared: bool) -> None:
        """They are the member's, which shares the others with other members."""
        ...


class Balancing:
    def __init__(self, member: Member, seats: Seats) -> None:
        self._member, self._seats = member, seats
        self.joined: set[Key] = set()
        """The groups in which it has begun in this life."""
        self._changing: set[Key] = set()

    def beat(self) -> None:
        for key in self._member.subscriptions:
            self._ask(key)

    def taken(self) -> set[Key]:
        """The subscriptions have changed. Returns the groups that it has left."""
        gone = self.joined - self._member.subscriptions.keys()
        self.joined -= gone
        return gone

    def lost(self) -> None:
        """Nothing that was asked is answered."""
        self._changing.clear()

    def _ask(self, key: Key) -> None:
        if key not in self._changing:
            self._changing.add(key)
            self._seats.ask_leases(key, partial(self._balance, key))

    def _balance(self, key: Key, version: Any, before: Leases, alive: Collection[str]) -> None:
        self._changing.discard(key)
        if key not in self._member.subscriptions:
            return
        name = self._member.name
        begun = before if key in self.joined else joined(before, name)
        leases = beaten(begun, alive, name)
        new = [
            number
            for number, one in enumerate(leases)
            if one.owner == name
            and ((held := self._member.held.get((key, number))) is None or held.generation != one.generation)
        ]
        if leases == before and not new:
            self.joined.add(key)
            self._member.balanced(key, leases, {}, 0)
            return
        self._changing.add(key)
        self._seats.change_leases(key, version, leases, new, partial(self._changed, key, leases))

    def _changed(self, key: Key, leases: Leases, standing: Mapping[int, Standing] | None) -> None:
        self._changing.discard(key)
        if standing is None:
            self._ask(key)
            return
        self.joined.add(key)
        held = self._member.balanced(key, leases, standing, time.time_ns() // 1_000)
        self._seats.claimed(held, is_shared=leases != beaten(leases, {self._member.name}, self._member.name))


def is_held(member: Member, held: Held) -> bool:
    """Whether it still owns this."""
    subscription = held.subscription
    return member.held.get(((subscription.group, subscription.topic), held.partition)) is held
