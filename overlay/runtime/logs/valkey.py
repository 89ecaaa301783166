"""The log of one node over streams of a Valkey or Redis. Counterpart: ``overlay.log.core``, in memory.

Two connections: one for requests that are answered at once, and one that waits for new records (XREAD BLOCK), which
CLIENT UNBLOCK ends when other partitions are to be read. When one is lost, both are made again with back-off; appends
without an answer are sent again, so that nothing is lost, and a record may be there twice::

    take ── XADD (pipelined) ──> answer: durable          XREAD ──> records ── feed
    heartbeat ── BEAT ──> leases ── overlay.log.groups ── CHANGE (fails if they have changed) ──> assigned, revoked
"""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from select import select
from typing import Any

from overlay.core.node import MILLISECOND, SECOND
from overlay.log.groups import Key, Lease, Leases, beaten, joined, unowned
from overlay.log.member import Commit, Held, Member, Standing
from overlay.log.node import LogUser, Start
from overlay.log.partition import POSITIONS_PER_MS
from overlay.log.spec import LogSpec
from overlay.log.topics import Append, Record, Topic, partition_of
from overlay.runtime.logs import scripts
from overlay.runtime.logs.connection import Connection, Engine, LostConnection
from overlay.runtime.logs.resp import EngineError

FIRST_PAUSE_NS, LONGEST_PAUSE_NS = 50 * MILLISECOND, 2 * SECOND
"""Between two attempts to connect; doubled each time."""
MOST_UNDER_WAY = 1_000
"""Appends without an answer."""
MOST_READ = 256
"""Records of one partition in one answer."""
BLOCK_MS, SHORT_BLOCK_MS = 1_000, 20
COMMIT_NS = 100 * MILLISECOND
"""Between two commits: what a reader has settled since the last one comes again if it dies. For each record of its own
they would take a third of all requests."""
TRIM_NS = 10 * SECOND
FAREWELL_S = 1.0
UNSEEN = NOT_ALL = -1


class ValkeyLog:
    """A ``LogPort``."""

    def __init__(self, spec: LogSpec, url: str, deployment: str, name: str, node: LogUser) -> None:
        """``deployment`` keeps the logs of several deployments apart; ``name`` is that of the process or client. Raises
        ``WaxwingError`` if ``url`` is none."""
        self.member = Member(name, node)
        self.counters = {"log_appended": 0, "log_read": 0, "log_refused": 0, "log_lost": 0, "log_away_ms": 0}
        """Records appended and read, commits refused, connections lost, and the time without one."""
        self._spec = spec
        self._engine = Engine.of(url)
        self._prefix = deployment
        self._topics = spec.by_name()
        self._requests: Connection | None = None
        self._reader: Connection | None = None
        self._reader_id = 0
        self._pause_ns = FIRST_PAUSE_NS
        self._connects_at = time.monotonic_ns()
        self._away_since = self._connects_at
        self._next_beat = self._next_commit = self._next_trim = 0
        self._under_way: deque[Append] = deque()
        """Sent, the oldest first; ``member.appends`` are those that were not."""
        self._leaves_at: deque[tuple[int, int]] = deque()
        """While the log is slow: when so many of ``member.appends`` leave."""
        self._delay_ns = 0
        self._joined: set[Key] = set()
        """The groups in which it has begun in this life."""
        self._changing: set[Key] = set()
        self._reading: frozenset[Held] | None = None
        """The partitions of the request that the reader waits with."""
        self._reads_all = NOT_ALL
        """``member.changes`` when that request was made, if it has all partitions: nothing needs to change it then."""
        self._is_unblocked = False
        self._places: dict[Held, tuple[int, bytes, bytes]] = {}
        """For ``_place``: position, stream and id."""
        self._whole: list[Held] = []
        """Partitions whose newest records are under way."""
        self._turn = 0
        self._is_cut = False
        self._written: set[str] = set()
        """Streams to be trimmed."""

    # ---- the port

    def descriptors(self) -> Sequence[tuple[int, bool]]:
        found = [one for one in (self._requests, self._reader) if one is not None]
        return [(one.descriptor, one.wants_to_write) for one in found]

    def next_timer(self) -> int:
        if self.member.has_input:
            return 0
        if self._requests is None:
            return self._connects_at
        due = min(self._next_beat, self._next_commit) if self.member.has_commits else self._next_beat
        return min(due, self._leaves_at[0][0]) if self._leaves_at else due

    def handle(self, now: int) -> None:
        if self._is_cut:
            self._connects_at = now + FIRST_PAUSE_NS
            return
        try:
            if self._requests is None:
                if now < self._connects_at:
                    return
                self._connect(now)
            for one in (self._requests, self._reader):
                if one is not None:
                    one.write()
                    one.read()
            if now >= self._next_beat:
                self._beat(now)
        except LostConnection:
            self._lose(now)

    def feed(self, now: int) -> None:
        self.counters["log_read"] += len(self.member.feed(now))

    def take(self, now: int) -> None:
        before = len(self.member.appends)
        if self.member.take():
            self._next_beat = 0
            gone = self._joined - self.member.subscriptions.keys()
            self._leave(gone)
            self._joined -= gone
        more = len(self.member.appends) - before
        if more and (self._delay_ns or self._leaves_at):
            self._leaves_at.append((max(now + self._delay_ns, self._leaves_at[-1][0] if self._leaves_at else 0), more))
        try:
            self._send(now)
        except LostConnection:
            self._lose(now)

    def set_cut(self, is_cut: bool, now: int) -> None:
        self._is_cut = is_cut
        if is_cut:
            self._lose(now)

    def set_delay(self, delay_ns: int) -> None:
        self._delay_ns = delay_ns

    def close(self, now: int) -> None:
        if self._requests is None:
            return
        until = time.monotonic() + FAREWELL_S
        self._leaves_at.clear()
        self._next_commit = now
        with suppress(LostConnection, OSError):
            self._send(now)
            self._leave(self._joined)
            while self._requests.under_way and (left := until - time.monotonic()) > 0:
                self._requests.write()
                writes = [self._requests.descriptor] if self._requests.wants_to_write else []
                if select([self._requests.descriptor], writes, [], left)[0]:
                    self._requests.read()
                self._send_appends(time.monotonic_ns())
        self._lose(now)

    # ---- connections

    def _connect(self, now: int) -> None:
        self._connects_at = now + self._pause_ns
        self._pause_ns = min(2 * self._pause_ns, LONGEST_PAUSE_NS)
        self._requests = Connection(self._engine)
        self._reader = Connection(self._engine)
        self._reader.ask(self._know_reader, "CLIENT", "ID")
        if self._spec.durability == "always":
            self._requests.ask(_accepted, "CONFIG", "SET", "appendfsync", "always")
        self._next_beat = now

    def _know_reader(self, answer: Any) -> None:
        self._reader_id = int(_accepted(answer))
        self._pause_ns = FIRST_PAUSE_NS
        self.counters["log_away_ms"] += (time.monotonic_ns() - self._away_since) // MILLISECOND

    def _lose(self, now: int) -> None:
        """What has no answer is sent again later, from its first on."""
        if self._requests is None:
            return
        if self._reader_id:
            self._away_since = now
        self.counters["log_lost"] += 1
        for one in (self._requests, self._reader):
            if one is not None:
                one.close()
        self._requests = self._reader = None
        self._reader_id = 0
        self.member.appends.extendleft(reversed(self._under_way))
        self._under_way.clear()
        self._leaves_at.clear()
        self._reading, self._is_unblocked = None, False
        self._changing.clear()
        self._whole = [held for held in self._whole if self._is_held(held)]
        for held in self._whole:
            held.next = UNSEEN
        self._whole.clear()

    # ---- sending

    def _send(self, now: int) -> None:
        if self._requests is None or not self._reader_id:
            return
        self._send_appends(now)
        if now >= self._next_commit:
            self._send_commits(now)
        self._requests.write()  # others wait for records, and none for the request of our reader
        self._read_on()
        if now >= self._next_trim:
            self._trim(now)
        self._requests.write()

    def _send_appends(self, now: int) -> None:
        waiting, requests = self.member.appends, self._requests
        assert requests is not None
        wall_us = str(time.time_ns() // 1_000)
        while waiting and len(self._under_way) < MOST_UNDER_WAY:
            if self._leaves_at:
                at, count = self._leaves_at[0]
                if at > now:
                    return
                self._leaves_at[0] = at, count - 1
                if count == 1:
                    self._leaves_at.popleft()
            append = waiting.popleft()
            self._under_way.append(append)
            topic = self._topic(append.topic)
            stream = self._stream(topic.name, partition_of(append.key, topic.partitions))
            if topic.is_compacted:
                self._eval(
                    self._appended, scripts.APPEND, [stream, self._newest(stream)],
                    scripts.MOST_NEWEST, append.key, append.value, wall_us,
                )  # fmt: skip
            else:
                bound = ("MAXLEN", "~", self._spec.most_records)
                fields = ("k", append.key, "v", append.value, "t", wall_us)
                requests.ask(self._appended, "XADD", stream, *bound, "*", *fields)
                self._written.add(stream)

    def _appended(self, answer: Any) -> None:
        _accepted(answer)  # if it is full, what follows must not overtake this one
        append = self._under_way.popleft()
        self.counters["log_appended"] += 1
        self.member.durable((append.token,))

    def _send_commits(self, now: int) -> None:
        by_group: dict[Key, list[Commit]] = {}
        commits = self.member.commits()
        if commits:
            self._next_commit = now + COMMIT_NS
        for commit in commits:
            by_group.setdefault((commit.position.group, commit.position.topic), []).append(commit)
        for key, commits in by_group.items():
            said = [
                part
                for one in commits
                for part in (one.position.partition, one.generation, _text(one.position.position))
            ]
            self._eval(self._committed, scripts.COMMIT, [self._group(key)], *said)

    def _committed(self, answer: Any) -> None:
        self.counters["log_refused"] += _accepted(answer).count(0)

    def _trim(self, now: int) -> None:
        self._next_trim = now + TRIM_NS
        oldest = round(time.time() * 1_000 - self._spec.retention_s * 1_000)
        for stream in self._written:
            self._ask(_accepted, "XTRIM", stream, "MINID", "~", oldest)

    # ---- groups

    def _beat(self, now: int) -> None:
        self._next_beat = now + self._spec.beat_ns
        if self._reader_id:
            for key in self.member.subscriptions:
                self._ask_leases(key)

    def _ask_leases(self, key: Key) -> None:
        if key not in self._changing:
            self._changing.add(key)
            timeout_ms = round(self._spec.member_timeout_s * 1_000)
            keys = [self._group(key), self._members(key)]
            self._eval(partial(self._balance, key), scripts.BEAT, keys, self.member.name, timeout_ms)

    def _balance(self, key: Key, answer: Any) -> None:
        version, text, alive = _accepted(answer)
        self._changing.discard(key)
        subscription = self.member.subscriptions.get(key)
        if subscription is None:
            return
        name, before = self.member.name, self._leases(key, text)
        begun = before if key in self._joined else joined(before, name)
        leases = beaten(begun, {one.decode() for one in alive}, name)
        new = [
            number
            for number, one in enumerate(leases)
            if one.owner == name
            and ((held := self.member.held.get((key, number))) is None or held.generation != one.generation)
        ]
        if leases == before and not new:
            self._joined.add(key)
            self.member.balanced(key, leases, {}, 0)
            return
        self._changing.add(key)
        streams = [self._stream(key[1], number) for number in new]
        claims = [part for number in new for part in (number, leases[number].generation)]
        changed = json.dumps([*map(list, leases)])
        is_newest = int(subscription.start is Start.NEWEST)
        done = partial(self._changed, key, leases, new)
        self._eval(done, scripts.CHANGE, [self._group(key), *streams], version, changed, is_newest, *claims)

    def _changed(self, key: Key, leases: Leases, new: list[int], answer: Any) -> None:
        standing = _accepted(answer)
        self._changing.discard(key)
        if standing == 0:
            self._ask_leases(key)
            return
        self._joined.add(key)
        known = {number: _standing(*one) for number, one in zip(new, standing, strict=True)}
        for held in self.member.balanced(key, leases, known, time.time_ns() // 1_000):
            if held.subscription.start is Start.WHOLE and self._topic(key[1]).is_compacted:
                held.next = UNSEEN
        if leases != beaten(leases, {self.member.name}, self.member.name):
            self._next_beat = min(self._next_beat, time.monotonic_ns() + self._spec.beat_ns // 4)

    def _leases(self, key: Key, text: bytes) -> Leases:
        partitions = self._topic(key[1]).partitions
        found = tuple(Lease(*one) for one in json.loads(text)) if text else ()
        return found if len(found) == partitions else unowned(partitions)

    def _leave(self, keys: Sequence[Key] | set[Key]) -> None:
        if self._requests is not None:
            for key in keys:
                self._ask(_accepted, "ZREM", self._members(key), self.member.name)

    # ---- reading

    def _read_on(self) -> None:
        """Let the reader wait for the partitions that there is room for."""
        member = self.member
        if self._reading is not None and self._reads_all == member.changes:
            return
        wanted: dict[bytes, Held] = {}
        after: list[bytes] = []
        repeated, most = False, 0
        ordered = list(member.held.values())
        for held in ordered if self._turn % 2 else reversed(ordered):
            if held.next == UNSEEN:
                self._ask_whole(held)
            elif not self._is_whole_under_way(held) and (room := member.room(held)):
                stream, id = self._place(held)
                if stream in wanted:
                    repeated = True
                else:
                    wanted[stream] = held
                    after.append(id)
                most = max(most, room)
        if self._reading is not None:
            if not repeated and not self._is_unblocked and not self._reading.issuperset(wanted.values()):
                self._is_unblocked = True
                self._ask(_accepted, "CLIENT", "UNBLOCK", self._reader_id)
            return
        if not wanted or self._reader is None:
            return
        self._turn += 1  # those of one stream in turn
        self._reading = frozenset(wanted.values())
        self._reads_all = member.changes if len(wanted) == len(ordered) else NOT_ALL
        block = SHORT_BLOCK_MS if repeated else BLOCK_MS
        done = partial(self._arrived, wanted)
        self._reader.ask(done, "XREAD", "COUNT", min(MOST_READ, most), "BLOCK", block, "STREAMS", *wanted, *after)
        self._reader.write()

    def _place(self, held: Held) -> tuple[bytes, bytes]:
        """Its stream, and the id after which to read. Most stay the same from one request to the next."""
        known = self._places.get(held)
        if known is None:
            if len(self._places) > 2 * len(self.member.held):  # of some that are not held any more
                self._places.clear()
            known = 0, self._stream(held.subscription.topic, held.partition).encode(), _id(0).encode()
        if known[0] != held.next:
            known = held.next, known[1], _id(held.next - 1).encode()
        self._places[held] = known
        return known[1:]

    def _arrived(self, wanted: dict[bytes, Held], answer: Any) -> None:
        self._reading, self._is_unblocked = None, False
        for stream, entries in _accepted(answer) or ():
            held = wanted[stream]
            if self._is_held(held):
                topic = held.subscription.topic
                self.member.arrived(held, [read_record(topic, held.partition, *entry) for entry in entries])

    def _ask_whole(self, held: Held) -> None:
        held.next = 0
        self._whole.append(held)
        stream = self._stream(held.subscription.topic, held.partition)
        self._ask(partial(self._whole_arrived, held), "HGETALL", self._newest(stream))

    def _whole_arrived(self, held: Held, answer: Any) -> None:
        flat = _accepted(answer)
        self._whole.remove(held)
        if not self._is_held(held):
            return
        topic, number = held.subscription.topic, held.partition
        found = [_newest_record(topic, number, key, value) for key, value in zip(flat[::2], flat[1::2], strict=True)]
        since_us = held.subscription.since_us(time.time_ns() // 1_000)
        found.sort(key=lambda record: record.position)
        self.member.arrived(held, [record for record in found if record.appended_us >= since_us])
        held.next = max([held.next, *(record.position + 1 for record in found)])

    def _is_whole_under_way(self, held: Held) -> bool:
        return any(one is held for one in self._whole)

    def _is_held(self, held: Held) -> bool:
        subscription = held.subscription
        return self.member.held.get(((subscription.group, subscription.topic), held.partition)) is held

    # ---- names and requests

    def _ask(self, on_answer: Callable[[Any], Any], *arguments: bytes | str | int) -> None:
        assert self._requests is not None
        self._requests.ask(on_answer, *arguments)

    def _eval(self, on_answer: Callable[[Any], Any], script: str, keys: list[str], *more: bytes | str | int) -> None:
        self._ask(on_answer, "EVAL", script, len(keys), *keys, *more)

    def _topic(self, name: str) -> Topic:
        return self._topics.get(name) or Topic(name)

    def _stream(self, topic: str, partition: int) -> str:
        return f"{self._prefix} s {topic} {partition}"

    def _newest(self, stream: str) -> str:
        """The hash next to a stream."""
        return f"{self._prefix} h{stream.removeprefix(self._prefix)[2:]}"

    def _group(self, key: Key) -> str:
        return f"{self._prefix} g {key[0]} {key[1]}"

    def _members(self, key: Key) -> str:
        return f"{self._prefix} m {key[0]} {key[1]}"


def _accepted(answer: Any) -> Any:
    """What must not be refused. Raises ``LostConnection``."""
    if isinstance(answer, EngineError):
        raise LostConnection(str(answer))
    return answer


def _text(position: int) -> str:
    ms, number = divmod(position, POSITIONS_PER_MS)
    return f"{ms:015d}-{number:07d}"


def _position(text: bytes) -> int:
    ms, _, number = text.partition(b"-")
    return int(ms) * POSITIONS_PER_MS + int(number)


def _id(position: int) -> str:
    """The id of the record at this position; ``0-0`` before the first."""
    ms, number = divmod(max(position, 0), POSITIONS_PER_MS)
    return f"{ms}-{number}"


def _standing(committed: bytes, last: bytes, last_us: bytes) -> Standing:
    end = _position(last) + 1 if last else 0
    return Standing(_position(committed) if committed else None, end, int(last_us))


def read_record(topic: str, partition: int, id: bytes, fields: list[bytes]) -> Record:
    """An entry of a stream."""
    _, key, _, value, _, appended_us = fields
    return Record(topic, partition, _position(id), key, value, int(appended_us))


def _newest_record(topic: str, partition: int, key: bytes, text: bytes) -> Record:
    position, appended_us, value = text.split(b" ", 2)
    return Record(topic, partition, _position(position), key, value, int(appended_us))
