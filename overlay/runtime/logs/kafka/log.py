"""The log of one node over Kafka. Counterpart: ``overlay.log.core``, in memory.

Groups, generations and positions are Kafka's own: a commit of a member that is not in the group any more, or of an
older generation, is refused by the cluster.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from overlay.core.node import MILLISECOND, SECOND
from overlay.log.member import Commit, Member
from overlay.log.node import LogUser
from overlay.log.spec import LogSpec
from overlay.runtime.logs.kafka.cluster import Cluster, Names
from overlay.runtime.logs.kafka.group import Group
from overlay.runtime.logs.kafka.topics import Topics
from overlay.runtime.logs.kafka.writing import Writing
from overlay.runtime.logs.outbox import Outbox
from overlay.runtime.logs.port import counters
from overlay.runtime.logs.wire import LostConnection

POLL_NS = 5 * MILLISECOND
PAUSE_NS = SECOND // 2
"""After a loss."""
FAREWELL_S = 1.0


class KafkaLog:
    """A ``LogPort``."""

    def __init__(self, spec: LogSpec, cluster: Cluster, deployment: str, name: str, node: LogUser) -> None:
        self.member = Member(name, node)
        self.counters = counters()
        self.denied: dict[str, str] = {}
        self._cluster, self._names = cluster, Names(deployment)
        self._executor = ThreadPoolExecutor(1, f"log of {name}")
        self._topics = Topics(cluster, self._names, spec, self._executor)
        self._outbox = Outbox(self.member)
        self._writing = Writing(cluster, self._names, self._topics, self.member, self._outbox)
        self._groups: dict[str, Group] = {}
        self._refused = 0
        """By groups that are over."""
        self._next_poll = 0
        self._begins_at = 0
        self._is_cut = False

    def descriptors(self) -> Sequence[tuple[int, bool]]:
        return ()

    def next_timer(self) -> int:
        return 0 if self.member.has_input else self._next_poll

    def handle(self, now: int) -> None:
        self._next_poll = now + POLL_NS
        if self._is_cut or now < self._begins_at:
            return
        try:
            self._topics.go_on()
            self._writing.poll()
            self._writing.send(now)
            for group in self._groups.values():
                group.go_on()
        except LostConnection:
            self._lose(now)
        self.counters["log_appended"] = self._writing.written
        self.counters["log_refused"] = self._refused + sum(group.refused for group in self._groups.values())

    def feed(self, now: int) -> None:
        self.counters["log_read"] += len(self.member.feed(now))

    def take(self, now: int) -> None:
        before = len(self.member.appends)
        if self.member.take():
            self._subscribe()
        self._outbox.taken(len(self.member.appends) - before, now)
        if self._is_cut or now < self._begins_at:
            return
        self._writing.send(now)
        by_group: dict[str, list[Commit]] = {}
        for commit in self.member.commits():
            by_group.setdefault(commit.position.group, []).append(commit)
        for name, commits in by_group.items():
            self._groups[name].commit(commits)

    def _subscribe(self) -> None:
        wanted: dict[str, set[str]] = {}
        for group, topic in self.member.subscriptions:
            wanted.setdefault(group, set()).add(topic)
        for name in self._groups.keys() - wanted.keys():
            gone = self._groups.pop(name)
            self._refused += gone.refused
            gone.end()
        for name, topics in wanted.items():
            if name not in self._groups:
                about = (self._cluster, self._names, self._topics, self.member, self._executor)
                self._groups[name] = Group(name, *about)
            self._groups[name].topics = frozenset(topics)

    def set_cut(self, is_cut: bool, now: int) -> None:
        self._is_cut = is_cut
        if is_cut:
            self._lose(now)

    def set_delay(self, delay_ns: int) -> None:
        self._outbox.delay_ns = delay_ns

    def close(self, now: int) -> None:
        until = time.monotonic() + FAREWELL_S
        self._outbox.hurry()
        with suppress(LostConnection):
            self._writing.send(now)
            self._writing.flush(FAREWELL_S / 2)
            self._writing.poll()
        for thread in [group.end() for group in self._groups.values()]:
            if thread is not None:
                thread.join(max(0.0, until - time.monotonic()))
        self._writing.lost()
        self._executor.shutdown(wait=False, cancel_futures=True)

    def _lose(self, now: int) -> None:
        """All begins again after a pause."""
        self.counters["log_lost"] += 1
        self.counters["log_away_ms"] += PAUSE_NS // MILLISECOND
        self._begins_at = now + PAUSE_NS
        self._writing.lost()
        for group in self._groups.values():
            group.end()
