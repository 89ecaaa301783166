"""What a driver of any engine keeps of one node: the partitions it owns, what was read for it, what it owes. Pure.

A driver passes on what its engine says (``balanced``, ``arrived``, ``durable``), lets the node have it (``feed``), and
after each step of the node takes what the engine is to do (``take``).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from overlay.log.groups import Key, Leases
from overlay.log.node import Assignment, LogUser, Start, Subscription
from overlay.log.topics import Append, Position, Record

MOST_WAITING = 1 << 16
"""Appends of a member that wait for the engine; beyond, they stay in the node, which has limits of its own."""


class Standing(NamedTuple):
    """What an engine knows of a partition when it is assigned."""

    committed: int | None
    end: int
    """The position after the last record; 0: there is none."""
    last_us: int = 0
    """When that was appended, Unix microseconds."""


class Commit(NamedTuple):
    position: Position
    generation: int


@dataclass(slots=True, eq=False)
class Held:
    """A partition that the node owns."""

    subscription: Subscription
    partition: int
    generation: int
    next: int
    """The position from which the driver reads on."""
    waiting: deque[Record] = field(default_factory=deque)
    """Read, and not yet given to the node."""


class Member:
    def __init__(self, name: str, node: LogUser) -> None:
        self.name = name
        self.node = node
        self.held: dict[tuple[Key, int], Held] = {}
        self.subscriptions: dict[Key, Subscription] = {}
        self.appends: deque[Append] = deque()
        """To be appended, the oldest first. A driver removes what is durable."""
        self._seen: Sequence[Subscription] | None = None
        self._revoked: list[Assignment] = []
        self._assigned: list[Assignment] = []
        self._durable: list[object] = []
        self._commits: dict[tuple[Key, int], Commit] = {}
        self._turn = 0
        self.changes = 0
        """How often partitions came to ``held`` or left it."""
        self._has_unread = False
        """Whether ``held`` may have records that the node has not."""

    # ---- from the engine

    def balanced(self, key: Key, leases: Leases, standing: Mapping[int, Standing], now_us: int) -> list[Held]:
        """The leases of a group, which may have changed. ``standing`` has at least the partitions that are new to the
        member, which are returned. ``now_us``: Unix microseconds."""
        mine = {number: one.generation for number, one in enumerate(leases) if one.owner == self.name}
        for (found, number), held in list(self.held.items()):
            if found == key and mine.get(number) != held.generation:
                self._revoke(key, number)
        new = [number for number in mine if (key, number) not in self.held] if key in self.subscriptions else []
        return [self._assign(key, number, mine[number], standing[number], now_us) for number in new]

    def lost(self, keys: Iterable[Key]) -> None:
        """It owns nothing of these groups any more."""
        for key in keys:
            for found, number in [place for place in self.held if place[0] == key]:
                self._revoke(found, number)

    def arrived(self, held: Held, records: Sequence[Record]) -> None:
        """What was read of a partition, from ``held.next`` on."""
        if records:
            self._has_unread = True
            held.waiting.extend(records)
            held.next = records[-1].position + 1

    def durable(self, tokens: Iterable[object]) -> None:
        """Of appends, in their order."""
        self._durable += [token for token in tokens if token is not None]

    # ---- to and from the node

    def room(self, held: Held) -> int:
        """How many more records the driver may read of it now."""
        return max(0, self.node.room(held.subscription) - len(held.waiting))

    @property
    def has_news(self) -> bool:
        """Whether ``feed`` has anything but records."""
        return bool(self._revoked or self._assigned or self._durable)

    @property
    def has_input(self) -> bool:
        """Whether ``feed`` has anything."""
        if self.has_news or not self._has_unread:
            return self.has_news
        return any(one.waiting and self.node.room(one.subscription) for one in self.held.values())

    def feed(self, now: int) -> list[Record]:
        """Let the node have all that it has room for. Returns the records."""
        node, given = self.node, list[Record]()
        revoked, assigned, durable = self._revoked, self._assigned, self._durable
        if revoked:
            self._revoked = []
            node.revoked(revoked, now)
        if assigned:
            self._assigned = []
            node.assigned(assigned, now)
        if durable:
            self._durable = []
            node.appended(durable, now)
        if not self._has_unread:
            return given
        waiting: dict[Key, list[Held]] = {}
        for (key, _), held in self.held.items():
            if held.waiting:
                waiting.setdefault(key, []).append(held)
        for key, held_of in waiting.items():
            records = self._next_of(self.subscriptions[key], held_of)
            if records:
                given += records
                node.receive_records(records, now)
        self._has_unread = any(one.waiting for one in self.held.values())
        return given

    def take(self) -> bool:
        """After a step of the node. Returns whether its subscriptions have changed; these are in ``subscriptions``."""
        if len(self.appends) < MOST_WAITING:
            self.appends.extend(self.node.records_to_append())
        for position in self.node.positions_to_commit():
            key = position.group, position.topic
            held = self.held.get((key, position.partition))
            if held is not None:
                self._commits[key, position.partition] = Commit(position, held.generation)
        seen = self.node.subscriptions()
        if seen == self._seen:
            return False
        self._seen = seen
        self.subscriptions = {(one.group, one.topic): one for one in seen}
        self.lost({key for key, _ in self.held if key not in self.subscriptions})
        for (key, _), held in self.held.items():
            held.subscription = self.subscriptions[key]
        return True

    @property
    def has_commits(self) -> bool:
        return bool(self._commits)

    def commits(self) -> list[Commit]:
        """Positions to commit, each partition's newest; clears them."""
        commits, self._commits = self._commits, {}
        return list(commits.values())

    def keep(self, commits: Iterable[Commit]) -> None:
        """Those that did not reach the engine, unless there are newer ones."""
        for commit in commits:
            position = commit.position
            self._commits.setdefault(((position.group, position.topic), position.partition), commit)

    # ---- parts of the above

    def _assign(self, key: Key, number: int, generation: int, standing: Standing, now_us: int) -> Held:
        subscription = self.subscriptions[key]
        begin = standing.committed
        if subscription.start is Start.WHOLE:
            begin = 0
        elif begin is None:
            begin = standing.end if subscription.start is Start.NEWEST else 0
        held = self.held[key, number] = Held(subscription, number, generation, begin)
        self.changes += 1
        is_to_come = standing.end > begin and standing.last_us >= subscription.since_us(now_us)
        end = standing.end if is_to_come else 0
        self._assigned.append(Assignment(subscription.topic, subscription.group, number, end))
        return held

    def _revoke(self, key: Key, number: int) -> None:
        held = self.held.pop((key, number))
        self.changes += 1
        self._commits.pop((key, number), None)
        notice = Assignment(held.subscription.topic, held.subscription.group, number, 0)
        unsaid = [one for one in self._assigned if one[:3] == notice[:3]]
        if unsaid:
            self._assigned.remove(unsaid[0])
        else:
            self._revoked.append(notice)

    def _next_of(self, subscription: Subscription, held: list[Held]) -> list[Record]:
        """Of these partitions in turn, as many as there is room for."""
        room = self.node.room(subscription)
        self._turn += 1
        first = self._turn % len(held)
        found: list[Record] = []
        for one in held[first:] + held[:first]:
            while one.waiting and len(found) < room:
                found.append(one.waiting.popleft())
        return found
