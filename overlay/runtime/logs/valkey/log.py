"""The log of one node over streams of a Valkey or Redis. Counterpart: ``overlay.log.core``, in memory.

Two connections: one for requests that are answered at once, and one that waits for new records (``reading``)::

    take ── XADD (pipelined) ──> answer: durable          XREAD ──> records ── feed
    heartbeat ── BEAT ──> leases ── CHANGE (fails if they have changed) ──> assigned, revoked
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

from overlay.core.node import MILLISECOND, SECOND
from overlay.log.groups import Key, Leases
from overlay.log.member import Commit, Held, Standing
from overlay.log.node import LogUser, Start
from overlay.log.spec import LogSpec
from overlay.log.topics import Append, partition_of
from overlay.runtime.logs.balancing import OnChange, OnLeases
from overlay.runtime.logs.connected import ConnectedLog
from overlay.runtime.logs.valkey import keys, scripts
from overlay.runtime.logs.valkey.connection import Connection, OnAnswer, Server, accepted
from overlay.runtime.logs.valkey.keys import Keys
from overlay.runtime.logs.valkey.reading import UNSEEN, Reading
from overlay.runtime.logs.valkey.resp import EngineError, is_about_rights
from overlay.runtime.logs.wire import Wire

COMMIT_NS = 100 * MILLISECOND
"""Between two commits: what a reader has settled since the last one comes again if it dies. For each record of its own
they would take a third of all requests."""
TRIM_NS = 10 * SECOND


class ValkeyLog(ConnectedLog):
    def __init__(self, spec: LogSpec, server: Server, deployment: str, name: str, node: LogUser) -> None:
        """``deployment`` keeps the logs of several deployments apart."""
        super().__init__(spec, name, node)
        self._server = server
        self._names = Keys(deployment)
        self._reading = Reading(self.member, self._names)
        self._requests: Connection | None = None
        self._reader: Connection | None = None
        self._reader_id = 0
        self._next_commit = self._next_trim = 0
        self._written: set[str] = set()
        """Streams to be trimmed."""

    def begin(self) -> Sequence[Wire]:
        self._requests = requests = Connection(self._server)
        self._reader = reader = Connection(self._server)
        reader.ask(self._know_reader, "CLIENT", "ID")
        if self.spec.durability == "always":
            requests.ask(accepted, "CONFIG", "SET", "appendfsync", "always")
        return requests, reader

    def _know_reader(self, answer: Any) -> None:
        self._reader_id = int(accepted(answer))
        self.connected()

    def forget(self) -> None:
        self._requests = self._reader = None
        self._reading.lost()

    def append(self, append: Append) -> None:
        topic = self.topic(append.topic)
        number = partition_of(append.key, topic.partitions)
        stream, wall_us = self._names.stream(topic.name, number), str(time.time_ns() // 1_000)
        if topic.is_compacted:
            both = [stream, self._names.newest(topic.name, number)]
            self._eval(
                self._appended, scripts.APPEND, both, scripts.MOST_NEWEST, append.key, append.value, wall_us
            )  # fmt: skip
        else:
            bound = ("MAXLEN", "~", self.spec.most_records)
            fields = ("k", append.key, "v", append.value, "t", wall_us)
            self._ask(self._appended, "XADD", stream, *bound, "*", *fields)
            self._written.add(stream)

    def _appended(self, answer: Any) -> None:
        if isinstance(answer, EngineError) and self._is_denied(self.outbox.oldest.topic, "write to", answer):
            self.outbox.drop()
            return
        accepted(answer)  # if it is full, what follows must not overtake this one
        self.appended()

    def next_timer(self) -> int:
        due = super().next_timer()
        return min(due, self._next_commit) if self._requests is not None and self.member.has_commits else due

    def close(self, now: int) -> None:
        self._next_commit = now
        super().close(now)

    def send_more(self, now: int) -> None:
        if now >= self._next_commit:
            self._send_commits(now)
        if self._requests is not None and self._reader is not None:
            self._requests.write()  # others wait for records, and none for the request of our reader
            self._reading.go_on(self._requests, self._reader, self._unblock)
        if now >= self._next_trim:
            self._trim(now)

    def _unblock(self) -> None:
        self._ask(accepted, "CLIENT", "UNBLOCK", self._reader_id)

    def _send_commits(self, now: int) -> None:
        by_group: dict[Key, list[Commit]] = {}
        given = self.member.commits()
        if given:
            self._next_commit = now + COMMIT_NS
        for commit in given:
            by_group.setdefault((commit.position.group, commit.position.topic), []).append(commit)
        for key, commits in by_group.items():
            said = [
                part
                for one in commits
                for part in (one.position.partition, one.generation, keys.text(one.position.position))
            ]
            self._eval(self._committed, scripts.COMMIT, [self._names.group(key)], *said)

    def _committed(self, answer: Any) -> None:
        self.counters["log_refused"] += accepted(answer).count(0)

    def _trim(self, now: int) -> None:
        self._next_trim = now + TRIM_NS
        oldest = round(time.time() * 1_000 - self.spec.retention_s * 1_000)
        if oldest <= 0:  # records are kept for ever
            return
        for stream in self._written:
            self._ask(accepted, "XTRIM", stream, "MINID", "~", oldest)

    # ---- groups

    def ask_leases(self, key: Key, then: OnLeases) -> None:
        timeout_ms = round(self.spec.member_timeout_s * 1_000)
        both = [self._names.group(key), self._names.members(key)]
        self._eval(partial(self._known, key, then), scripts.BEAT, both, self.member.name, timeout_ms)

    def _known(self, key: Key, then: OnLeases, answer: Any) -> None:
        if self._is_denied(key[1], "read", answer):
            return
        version, text, alive = accepted(answer)
        then(version, self.leases_of(key, json.loads(text) if text else ()), {one.decode() for one in alive})

    def change_leases(self, key: Key, version: Any, leases: Leases, claims: Sequence[int], then: OnChange) -> None:
        said = [
            part
            for number in claims
            for part in (number, leases[number].generation, self._names.stream(key[1], number))
        ]
        is_newest = int(self.member.subscriptions[key].start is Start.NEWEST)
        done, group = partial(self._changed, key, claims, then), [self._names.group(key)]
        self._eval(done, scripts.CHANGE, group, version, json.dumps([*map(list, leases)]), is_newest, *said)

    def _changed(self, key: Key, claims: Sequence[int], then: OnChange, answer: Any) -> None:
        if self._is_denied(key[1], "read", answer):
            return
        found = accepted(answer)
        known: Mapping[int, Standing] | None = None
        if found != 0:
            known = {number: keys.standing(*one) for number, one in zip(claims, found, strict=True)}
        then(known)

    def claimed(self, partitions: Sequence[Held], *, is_shared: bool) -> None:
        super().claimed(partitions, is_shared=is_shared)
        for held in partitions:
            if held.subscription.start is Start.WHOLE and self.topic(held.subscription.topic).is_compacted:
                held.next = UNSEEN

    def leave(self, keys: Collection[Key]) -> None:
        for key in keys:
            self._ask(accepted, "ZREM", self._names.members(key), self.member.name)

    def _is_denied(self, topic: str, what: str, answer: Any) -> bool:
        """Whether the engine lets its user not do this with the topic, which is given up then."""
        is_denied = self.spec.gives_up and isinstance(answer, EngineError) and is_about_rights(answer)
        if is_denied:
            self.denied[topic] = f"{self._server.named} may not {what} topic {topic}"
        return is_denied

    # ---- requests

    def _ask(self, on_answer: OnAnswer, *arguments: bytes | str | int) -> None:
        assert self._requests is not None
        self._requests.ask(on_answer, *arguments)

    def _eval(self, on_answer: OnAnswer, script: str, keys: list[str], *more: bytes | str | int) -> None:
        self._ask(on_answer, "EVAL", script, len(keys), *keys, *more)
