"""A log in memory, for virtual time and tests. Pure.

Counterparts: ``overlay.log.member`` has what is the same for every engine; ``overlay.sim.log`` drives this class,
``overlay.runtime.logs`` drives existing engines. Its faults are those that an engine has: it is down, slow, or one
member cannot reach it::

    take(member) ── delay ──> durable ──> news of the writer and of owners ── feed(member)
    heartbeats cease ── member time-out ──> its partitions are free ── heartbeat ──> owned by others

Members that live are taken to send their heartbeats. Groups have rounds of heartbeats only while these change leases.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count

from overlay.core.node import SECOND
from overlay.log.groups import Key, Leases, beaten, joined, left, unowned
from overlay.log.member import Commit, Held, Member, Standing
from overlay.log.node import LogUser
from overlay.log.partition import Partition
from overlay.log.spec import APPEND_DELAY_NS, MOST_TOPICS, LogSpec
from overlay.log.topics import Record, Topic, partition_of

MICROSECOND = 1_000

Place = tuple[Key, int]
"""A partition that a group reads."""


@dataclass(slots=True, eq=False)
class _Joined:
    """A member and its connection."""

    member: Member
    ready: deque[int] = field(default_factory=deque)
    """When each of ``member.appends`` is durable, if the log can be reached then."""
    silent_for: set[str] = field(default_factory=set)
    """Why there are no heartbeats."""
    silences: int = 0
    """So far, to tell them apart."""
    unread: dict[Place, None] = field(default_factory=dict)
    """The partitions that have records which were not read, with some that it does not own any more."""


@dataclass(slots=True)
class _Group:
    leases: Leases
    members: dict[str, _Joined] = field(default_factory=dict)
    """Those that are not dead."""
    committed: dict[int, int] = field(default_factory=dict)
    is_balancing: bool = False


class LogCore:
    def __init__(self, spec: LogSpec, wall_offset_ns: int, append_delay_ns: int = APPEND_DELAY_NS) -> None:
        """``wall_offset_ns``: Unix nanoseconds minus ``now``."""
        self.spec = spec
        self.slow_ns = 0
        """Added to the delay of each append."""
        self.counters = {"appended": 0, "read": 0, "committed": 0, "refused": 0, "unknown": 0}
        """Records appended and read, positions committed and refused, appends to one topic too many."""
        self._wall_offset_ns, self._append_delay_ns = wall_offset_ns, append_delay_ns
        self._topics = spec.by_name()
        self._partitions: dict[str, list[Partition]] = {}
        self._groups: dict[Key, _Group] = {}
        self._keys_of: dict[str, list[Key]] = {}
        """The groups of each topic."""
        self._members: dict[str, _Joined] = {}
        """Those that run."""
        self._cut: set[str] = set()
        """The names of members that cannot reach the log."""
        self._is_down = False
        self._news: dict[str, Member] = {}
        self._timers: list[tuple[int, int, Callable[[int], None]]] = []
        self._order = count()

    # ---- life of members

    def start(self, name: str, node: LogUser, now: int) -> Member:
        """A member begins. One of the same name that was killed has its partitions with it."""
        link = self._members[name] = _Joined(Member(name, node))
        if name in self._cut:
            self._fall_silent(link, "cut", now)
        return link.member

    def end(self, name: str, now: int) -> None:
        """It leaves: others can have its partitions at their next heartbeat."""
        link = self._members.pop(name)
        if self._reaches(link):
            self._append(link, now, at_once=True)
            self._commit(link)
        link.member.appends.clear()
        link.ready.clear()
        self._leave(link, list(link.member.subscriptions), now)

    def kill(self, name: str, now: int) -> None:
        """It says nothing any more. What it has appended already still becomes durable."""
        link = self._members.pop(name)
        if not self._reaches(link):
            link.member.appends.clear()
            link.ready.clear()
        self._fall_silent(link, "dead", now)

    def stop(self, name: str, now: int) -> None:
        """Its process does not run, until ``resume``."""
        self._fall_silent(self._members[name], "stopped", now)

    def resume(self, name: str, now: int) -> None:
        self._speak_again(self._members[name], "stopped", now)

    # ---- faults

    def cut(self, name: str, now: int) -> None:
        """A process, which may not run, cannot reach the log until ``mend``."""
        self._cut.add(name)
        if name in self._members:
            self._fall_silent(self._members[name], "cut", now)

    def mend(self, name: str, now: int) -> None:
        self._cut.discard(name)
        if name in self._members:
            self._speak_again(self._members[name], "cut", now)

    def set_down(self, is_down: bool, now: int) -> None:
        """While it is down nothing happens, and its time stands still: no member dies."""
        self._is_down = is_down
        if not is_down:
            for link in self._members.values():
                self._reach(link, now)
            for key in self._groups:
                self._balance(key, now + self.spec.beat_ns)

    # ---- steps of members

    def take(self, name: str, now: int, left_at: int = 0) -> None:
        """After a step of its node: take output, which leaves at ``left_at``, if later than ``now``."""
        link = self._members[name]
        before = link.member.subscriptions
        is_changed = link.member.take()
        self._send(link, max(now, left_at))
        if not self._reaches(link):
            return
        self._commit(link)
        if is_changed:
            self._leave(link, [key for key in before if key not in link.member.subscriptions], now)
            self._join(link, now)
        self._tell(link)

    def feed(self, name: str, now: int) -> list[Record]:
        """Let its node have all that there is. Returns the records. Step the node then, and ``take``."""
        link = self._members[name]
        if self._reaches(link):
            for place, held in self._unread(link):
                link.member.arrived(held, self._read(link, held, now))
                if not self._has_unread(held):
                    del link.unread[place]
        return link.member.feed(now)

    def news(self) -> list[Member]:
        """The members to be fed; each is named once."""
        news, self._news = self._news, {}
        return list(news.values())

    def next_timer(self) -> int | None:
        return self._timers[0][0] if self._timers else None

    def handle_timer(self, now: int) -> None:
        while self._timers and self._timers[0][0] <= now:
            heappop(self._timers)[2](now)

    # ---- records

    def _send(self, link: _Joined, left_at: int) -> None:
        """Appends that the log has not seen yet leave."""
        new = len(link.member.appends) - len(link.ready)
        if new > 0:
            ready = max(left_at + self._append_delay_ns + self.slow_ns, link.ready[-1] if link.ready else 0)
            link.ready.extend([ready] * new)
            self._at(ready, lambda now: self._append(link, now))

    def _append(self, link: _Joined, now: int, *, at_once: bool = False) -> None:
        """Those that are due become durable. ``at_once``: all."""
        member = link.member
        if not self._reaches(link):
            return
        while link.ready and (at_once or link.ready[0] <= now):
            link.ready.popleft()
            topic, key, value, token = member.appends.popleft()
            member.durable((token,))
            self._store(topic, key, value, now)
        self._tell(link)

    def _store(self, topic: str, key: bytes, value: bytes, now: int) -> None:
        partitions = self._partitions_of(topic)
        if partitions is None:
            self.counters["unknown"] += 1
            return
        number = partition_of(key, len(partitions))
        partitions[number].append(key, value, self._unix_us(now), self._oldest_us(now))
        self.counters["appended"] += 1
        for found in self._keys_of.get(topic, ()):
            group = self._groups[found]
            owner = group.members.get(group.leases[number].owner)
            if owner is not None:
                owner.unread[found, number] = None
                self._tell(owner)

    def _unread(self, link: _Joined) -> list[tuple[Place, Held]]:
        """The partitions to be read, in the order in which they were assigned."""
        held = link.member.held
        for place in link.unread.keys() - held.keys():
            del link.unread[place]
        if len(link.unread) < 2:
            return [(place, held[place]) for place in link.unread]
        return [(place, one) for place, one in held.items() if place in link.unread]

    def _read(self, link: _Joined, held: Held, now: int) -> Sequence[Record]:
        subscription = held.subscription
        partitions = self._partitions_of(subscription.topic)
        if partitions is None or partitions[held.partition].end <= held.next:
            return []
        since_us, room = subscription.since_us(self._unix_us(now)), link.member.room(held)
        records = partitions[held.partition].read(held.next, room, since_us)
        if room and not records:  # all that there is is too old
            held.next = partitions[held.partition].end
        self.counters["read"] += len(records)
        return records

    def _tell(self, link: _Joined) -> None:
        """Whether there is anything for it."""
        member = link.member
        if link.silent_for & {"dead", "stopped"}:
            return
        if member.has_news or (self._reaches(link) and self._can_read(link)):
            self._news[member.name] = member

    def _can_read(self, link: _Joined) -> bool:
        """Whether there is a record for it, and room. One without room is asked again after its next step."""
        member = link.member
        return any(place in member.held and member.room(member.held[place]) > 0 for place in link.unread)

    def _has_unread(self, held: Held) -> bool:
        partitions = self._partitions_of(held.subscription.topic)
        return partitions is not None and partitions[held.partition].end > held.next

    def _partitions_of(self, topic: str) -> list[Partition] | None:
        found = self._partitions.get(topic)
        if found is None and len(self._partitions) < MOST_TOPICS:
            kind = self._topics.get(topic) or Topic(topic)
            made = [Partition(kind, number, self.spec.most_records) for number in range(kind.partitions)]
            found = self._partitions[topic] = made
        return found

    # ---- groups

    def _commit(self, link: _Joined) -> None:
        for commit in link.member.commits():
            is_accepted = self.commit(commit)
            self.counters["committed" if is_accepted else "refused"] += 1

    def commit(self, commit: Commit) -> bool:
        """Whether it is of the present owner."""
        topic, name, partition, position = commit.position
        group = self._groups[name, topic]
        if group.leases[partition].generation != commit.generation:
            return False
        group.committed[partition] = max(position, group.committed.get(partition, 0))
        return True

    def _join(self, link: _Joined, now: int) -> None:
        """All groups that it subscribes to."""
        for key in link.member.subscriptions:
            group = self._group(key)
            if group is None or group.members.get(link.member.name) is link:
                continue
            group.members[link.member.name] = link
            group.leases = joined(group.leases, link.member.name)
            self._beat(key, link, now)
            self._balance(key, now + self.spec.beat_ns)

    def _leave(self, link: _Joined, keys: list[Key], now: int) -> None:
        for key in keys:
            group = self._groups.get(key)
            if group is not None and group.members.get(link.member.name) is link:
                del group.members[link.member.name]
                group.leases = left(group.leases, link.member.name)
                self._balance(key, now + self.spec.beat_ns)

    def _balance(self, key: Key, at: int) -> None:
        group = self._groups[key]
        if not group.is_balancing:
            group.is_balancing = True
            self._at(at, lambda now: self._round(key, now))

    def _round(self, key: Key, now: int) -> None:
        """A heartbeat of each member, and others as long as these change leases."""
        group = self._groups[key]
        group.is_balancing = False
        if self._is_down:
            return
        links = [link for _, link in sorted(group.members.items()) if self._reaches(link)]
        if any([self._beat(key, link, now) for link in links]):  # noqa: C419 (every member has its heartbeat)
            self._balance(key, now + self.spec.beat_ns)

    def _beat(self, key: Key, link: _Joined, now: int) -> bool:
        """Whether it changed leases."""
        group, member = self._groups[key], link.member
        before, group.leases = group.leases, beaten(group.leases, group.members, member.name)
        new = member.balanced(key, group.leases, self._standing(key, group, now), self._unix_us(now))
        for held in new:
            group.committed.setdefault(held.partition, held.next)
            if self._has_unread(held):
                link.unread[key, held.partition] = None
        self._tell(link)
        return before != group.leases

    def _standing(self, key: Key, group: _Group, now: int) -> dict[int, Standing]:
        found = {}
        for number, one in enumerate(self._partitions_of(key[1]) or ()):
            one.drop(self._oldest_us(now))
            last_us = -1 if one.is_empty else one.last_us
            found[number] = Standing(group.committed.get(number), one.end, last_us)
        return found

    def _group(self, key: Key) -> _Group | None:
        if key not in self._groups:
            partitions = self._partitions_of(key[1])
            if partitions is None:
                return None
            self._groups[key] = _Group(unowned(len(partitions)))
            self._keys_of.setdefault(key[1], []).append(key)
        return self._groups[key]

    # ---- silence

    def _reaches(self, link: _Joined) -> bool:
        return not self._is_down and (not link.silent_for or link.silent_for == {"dead"})

    def _fall_silent(self, link: _Joined, why: str, now: int) -> None:
        if not link.silent_for:
            link.silences += 1
            self._expect_death(link, link.silences, now)
        link.silent_for.add(why)

    def _speak_again(self, link: _Joined, why: str, now: int) -> None:
        link.silent_for.discard(why)
        self._reach(link, now)

    def _expect_death(self, link: _Joined, silence: int, now: int) -> None:
        self._at(now + self.spec.member_timeout_ns, lambda at: self._die(link, silence, at))

    def _die(self, link: _Joined, silence: int, now: int) -> None:
        if not link.silent_for or link.silences != silence:
            return
        if self._is_down:
            self._expect_death(link, silence, now)
            return
        for key, group in self._groups.items():
            if group.members.get(link.member.name) is link:
                del group.members[link.member.name]
                group.leases = left(group.leases, link.member.name)
                self._round(key, now)

    def _reach(self, link: _Joined, now: int) -> None:
        """The log can be reached again: everything that waited is sent."""
        if not self._reaches(link):
            return
        member = link.member
        link.ready.clear()
        self._send(link, now)
        self._commit(link)
        for key, group in self._groups.items():
            if group.members.get(member.name) is link:
                self._balance(key, now + self.spec.beat_ns)
            else:
                member.lost([key])
        self._leave(link, [key for key in self._groups if key not in member.subscriptions], now)
        self._join(link, now)
        self._tell(link)

    def uncommitted(self) -> Iterator[Record]:
        """The records that a group has not committed, of each group that has begun to read."""
        for (_, topic), group in self._groups.items():
            for number, position in sorted(group.committed.items()):
                partition = self._partitions[topic][number]
                yield from partition.read(position, len(partition))

    def _unix_us(self, now: int) -> int:
        return (now + self._wall_offset_ns) // MICROSECOND

    def _oldest_us(self, now: int) -> int:
        """Records from before are dropped."""
        return self._unix_us(now) - round(self.spec.retention_s * SECOND) // MICROSECOND

    def _at(self, time: int, action: Callable[[int], None]) -> None:
        heappush(self._timers, (time, next(self._order), action))

    def check_invariants(self) -> None:
        owned: dict[tuple[Key, int, int], str] = {}
        for link in self._members.values():
            for (key, number), held in link.member.held.items():
                other = owned.setdefault((key, number, held.generation), link.member.name)
                assert other == link.member.name, "one owner for each partition and generation"
        for (_, topic), group in self._groups.items():
            partitions = self._partitions[topic]
            for number, position in group.committed.items():
                assert position <= partitions[number].end, "no position after the end is committed"
            assert {one.owner for one in group.leases} <= {"", *group.members}, "only members that live own partitions"
        for partitions in self._partitions.values():
            for partition in partitions:
                partition.check_invariants()
