"""The log of one node over connections that are polled: what engines share that have no groups of their own.

When a connection is lost, all are made again with back-off; appends without an answer are sent again, so that nothing
is lost, and a record may be there twice.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence
from contextlib import suppress
from select import select

from overlay.core.node import MILLISECOND, SECOND
from overlay.log.groups import Key, Lease, Leases, unowned
from overlay.log.member import Held, Member
from overlay.log.node import LogUser
from overlay.log.spec import LogSpec
from overlay.log.topics import Append, Topic
from overlay.runtime.logs.balancing import Balancing, Seats
from overlay.runtime.logs.outbox import Outbox
from overlay.runtime.logs.port import counters
from overlay.runtime.logs.wire import LostConnection, NotAdmitted, Wire

FIRST_PAUSE_NS, LONGEST_PAUSE_NS = 50 * MILLISECOND, 2 * SECOND
"""Between two attempts to connect; doubled each time."""
MOST_READ = 256
"""Records of one partition in one answer."""
FAREWELL_S = 1.0


class ConnectedLog(Seats, ABC):
    """A ``LogPort``."""

    def __init__(self, spec: LogSpec, name: str, node: LogUser) -> None:
        """``name`` is that of the process or client."""
        self.member = Member(name, node)
        self.counters = counters()
        self.denied: dict[str, str] = {}
        self.spec = spec
        self.outbox = Outbox(self.member)
        self._topics = spec.by_name()
        self._balancing = Balancing(self.member, self)
        self._wires: Sequence[Wire] = ()
        self._is_up = False
        self._pause_ns = FIRST_PAUSE_NS
        self._connects_at = time.monotonic_ns()
        self._away_since = self._connects_at
        self._next_beat = 0
        self._is_cut = False

    # ---- what an engine does

    @abstractmethod
    def begin(self) -> Sequence[Wire]:
        """Connect, and call ``connected`` when it answers. Raises ``LostConnection``, as do the next ones."""

    @abstractmethod
    def append(self, append: Append) -> None:
        """Send it. ``appended`` is called for each in their order."""

    @abstractmethod
    def send_more(self, now: int) -> None:
        """Commits, requests for records, and what else is due."""

    @abstractmethod
    def leave(self, keys: Collection[Key]) -> None:
        """Let the others know that it leaves these groups."""

    @abstractmethod
    def forget(self) -> None:
        """The connections are lost, and so are answers that were expected."""

    def beat(self, now: int) -> None:
        """A heartbeat."""
        self._balancing.beat()

    # ---- what it calls

    @property
    def is_up(self) -> bool:
        return self._is_up

    def connected(self) -> None:
        self._is_up = True
        self._pause_ns = FIRST_PAUSE_NS
        self.counters["log_away_ms"] += (time.monotonic_ns() - self._away_since) // MILLISECOND
        self._next_beat = 0

    def appended(self) -> None:
        self.counters["log_appended"] += 1
        self.outbox.durable()

    def claimed(self, partitions: Sequence[Held], *, is_shared: bool) -> None:
        if is_shared:
            self._next_beat = min(self._next_beat, time.monotonic_ns() + self.spec.beat_ns // 4)

    def topic(self, name: str) -> Topic:
        return self._topics.get(name) or Topic(name)

    def leases_of(self, key: Key, rows: Sequence[Sequence[str | int]]) -> Leases:
        """As an engine keeps them; those of a topic with another number of partitions are void."""
        partitions = self.topic(key[1]).partitions
        return (
            tuple(Lease(str(owner), int(generation)) for owner, generation in rows)
            if len(rows) == partitions
            else unowned(partitions)
        )

    # ---- the port

    def descriptors(self) -> Sequence[tuple[int, bool]]:
        return [(one.descriptor, one.wants_to_write) for one in self._wires]

    def next_timer(self) -> int:
        if self.member.has_input:
            return 0
        if not self._wires:
            return self._connects_at
        return min(self._next_beat, self.outbox.next_timer)

    def handle(self, now: int) -> None:
        if self._is_cut:
            self._connects_at = now + FIRST_PAUSE_NS
            return
        try:
            if not self._wires:
                if now < self._connects_at:
                    return
                self._connects_at = now + self._pause_ns
                self._pause_ns = min(2 * self._pause_ns, LONGEST_PAUSE_NS)
                self._wires = self.begin()
                self._next_beat = now
            for one in self._wires:
                one.write()
                one.read()
            if now >= self._next_beat:
                self._next_beat = now + self.spec.beat_ns
                if self._is_up:
                    self.beat(now)
        except LostConnection as error:
            if self.spec.gives_up and isinstance(error, NotAdmitted):
                self.denied[""] = str(error)
            self._lose(now)

    def feed(self, now: int) -> None:
        self.counters["log_read"] += len(self.member.feed(now))

    def take(self, now: int) -> None:
        before = len(self.member.appends)
        if self.member.take():
            self._next_beat = 0
            gone = self._balancing.taken()
            if self._wires:
                self.leave(gone)
        self.outbox.taken(len(self.member.appends) - before, now)
        try:
            self._send(now)
        except LostConnection:
            self._lose(now)

    def set_cut(self, is_cut: bool, now: int) -> None:
        self._is_cut = is_cut
        if is_cut:
            self._lose(now)

    def set_delay(self, delay_ns: int) -> None:
        self.outbox.delay_ns = delay_ns

    def close(self, now: int) -> None:
        until = time.monotonic() + FAREWELL_S
        self.outbox.hurry()
        with suppress(LostConnection, OSError):
            self._send(now)
            if self._is_up:
                self.leave(self._balancing.joined)
            while self._owes and (left := until - time.monotonic()) > 0:
                writing = [one.descriptor for one in self._wires if one.wants_to_write]
                select([one.descriptor for one in self._wires], writing, [], left)
                for one in self._wires:
                    one.write()
                    one.read()
                self._send_appends(time.monotonic_ns())
        self._lose(now)

    @property
    def _owes(self) -> bool:
        return bool(self._wires) and (self._wires[0].wants_to_write or self._wires[0].under_way > 0)

    def _send(self, now: int) -> None:
        if not self._is_up:
            return
        self._send_appends(now)
        self.send_more(now)
        for one in self._wires:
            one.write()

    def _send_appends(self, now: int) -> None:
        for append in self.outbox.leaving(now):
            self.append(append)

    def _lose(self, now: int) -> None:
        if not self._wires:
            return
        if self._is_up:
            self._away_since = now
        self.counters["log_lost"] += 1
        for one in self._wires:
            one.close()
        self._wires, self._is_up = (), False
        self.outbox.again()
        self._balancing.lost()
        self.forget()
