"""The log of one node over JetStream. Counterpart: ``overlay.log.core``, in memory. ``names`` lists what is where.

One connection. Members hear each other's heartbeats directly, and change leases by writes that name what was read::

    take ── publish ──> acknowledged: durable       consumer of each partition ──> records ── feed
    heartbeats of others ──> who is alive     leases ── replace (fails if they have changed) ──> claims ──> assigned
"""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Sequence
from functools import partial
from typing import Any

from overlay.core.node import SECOND
from overlay.log.groups import Key, Leases
from overlay.log.member import Standing
from overlay.log.node import LogUser, Start
from overlay.log.spec import LogSpec
from overlay.log.topics import Append, partition_of
from overlay.runtime.logs.balancing import OnChange, OnLeases
from overlay.runtime.logs.connected import ConnectedLog
from overlay.runtime.logs.nats.claims import Claims
from overlay.runtime.logs.nats.connection import NAME_IN_USE, Connection, Server, Stored, accepted, code_of
from overlay.runtime.logs.nats.names import Names, pack
from overlay.runtime.logs.nats.protocol import Message
from overlay.runtime.logs.nats.reading import Reading
from overlay.runtime.logs.wire import LostConnection, Wire

ANSWER_S = 5.0
"""A request without an answer for so long means that the server is away."""
LEAST_AGE_S = 0.1
"""Of records that are dropped; a limit of JetStream."""


class NatsLog(ConnectedLog):
    def __init__(self, spec: LogSpec, server: Server, deployment: str, name: str, node: LogUser) -> None:
        super().__init__(spec, name, node)
        self._server = server
        self._names = Names(deployment)
        self._wire: Connection | None = None
        self._turn = 0
        self._reading = Reading(self.member, self._names)
        self._claims = Claims(self.member, self._names, self._refused)
        self._heard: dict[Key, dict[str, int]] = {}
        """When each other member of a group was heard, monotonic ns; 0: it has left."""
        self._listening: dict[Key, int] = {}
        self._last_beat = 0

    # ---- the connection

    def begin(self) -> Sequence[Wire]:
        self._wire = wire = Connection(self._server, self._turn)
        self._turn += 1
        for name, config in self._streams().items():
            done = partial(self._made, is_last=name == self._names.state)
            wire.api(done, f"STREAM.CREATE.{name}", name=name, num_replicas=self._server.replicas, **config)
        return (wire,)

    def _streams(self) -> dict[str, dict[str, Any]]:
        storage = "memory" if self.spec.durability == "none" else "file"
        both = {"retention": "limits", "discard": "old", "storage": storage, "duplicate_window": SECOND // 10}
        age = round(max(self.spec.retention_s, LEAST_AGE_S) * SECOND)
        log = {"subjects": self._names.log_subjects, "max_age": age, "max_msgs_per_subject": self.spec.most_records}
        state = {"subjects": self._names.state_subjects, "max_msgs_per_subject": 1}
        return {self._names.log: log | both, self._names.state: state | both}

    def _made(self, answer: Any, *, is_last: bool) -> None:
        if code_of(answer) != NAME_IN_USE:  # another member made it, with another retention
            accepted(answer)
        if is_last:
            self.connected()

    def forget(self) -> None:
        self._wire = None
        self._heard.clear()
        self._listening.clear()
        self._reading.lost()
        self._claims.lost()

    # ---- records and positions

    def append(self, append: Append) -> None:
        topic = self.topic(append.topic)
        subject = self._names.record(topic, partition_of(append.key, topic.partitions), append.key)
        self._up.ask(self._appended, subject, pack(append.key, append.value))

    def _appended(self, answer: Any) -> None:
        accepted(answer)  # if it is full, what follows must not overtake this one
        self.appended()

    def send_more(self, now: int) -> None:
        self._claims.send(self._up)
        self._reading.go_on(self._up, self.topic, now)

    def _refused(self) -> None:
        self.counters["log_refused"] += 1

    # ---- groups

    def beat(self, now: int) -> None:
        wire = self._up
        if wire.waits_s > ANSWER_S:
            raise LostConnection("it does not answer")
        if now - self._last_beat > self.spec.member_timeout_ns // 2:
            for heard in self._heard.values():  # this process stood still: others may have been heard meanwhile
                heard.update({name: now for name, at in heard.items() if at})
        self._last_beat = now
        for key in self.member.subscriptions:
            if key not in self._listening:
                self._listening[key] = wire.listen(self._names.beats(key), partial(self._hear, key))
            wire.publish(self._names.beats(key), self.member.name.encode())
        super().beat(now)

    def _hear(self, key: Key, message: Message) -> None:
        name = message.payload.decode(errors="replace")
        left = name.startswith("-")
        self._heard.setdefault(key, {})[name.removeprefix("-")] = 0 if left else time.monotonic_ns()

    def ask_leases(self, key: Key, then: OnLeases) -> None:
        self._up.last(partial(self._known, key, then), self._names.state, self._names.leases(key))

    def _known(self, key: Key, then: OnLeases, found: Stored) -> None:
        leases = self.leases_of(key, json.loads(found.payload) if found.sequence else ())
        now, heard = time.monotonic_ns(), self._heard.setdefault(key, {})
        for lease in leases:
            if lease.owner and lease.owner not in heard:
                heard[lease.owner] = now
        oldest = now - self.spec.member_timeout_ns
        then(found.sequence, leases, {self.member.name, *(name for name, at in heard.items() if at and at > oldest)})

    def change_leases(self, key: Key, version: Any, leases: Leases, claims: Sequence[int], then: OnChange) -> None:
        said = json.dumps([*map(list, leases)]).encode()
        self._up.replace(partial(self._changed, key, leases, claims, then), self._names.leases(key), version, said)

    def _changed(self, key: Key, leases: Leases, claims: Sequence[int], then: OnChange, sequence: int | None) -> None:
        known: dict[int, Standing] = {}
        is_refused = sequence is None
        subscription = self.member.subscriptions.get(key)
        if is_refused or not claims or subscription is None:
            then(None if is_refused or subscription is None else known)
            return
        left = set(claims)

        def claimed(number: int, standing: Standing | None) -> None:
            nonlocal is_refused
            left.discard(number)
            if standing is None:
                is_refused = True
            else:
                known[number] = standing
            if not left:
                then(None if is_refused else known)

        is_newest = subscription.start is Start.NEWEST
        for number in claims:
            about = (key, self.topic(key[1]), number, leases[number].generation, is_newest)
            self._claims.claim(self._up, *about, partial(claimed, number))

    def leave(self, keys: Collection[Key]) -> None:
        for key in keys:
            self._up.publish(self._names.beats(key), f"-{self.member.name}".encode())
            self._heard.pop(key, None)
            if (number := self._listening.pop(key, None)) is not None:
                self._up.hush(number)

    @property
    def _up(self) -> Connection:
        assert self._wire is not None
        return self._wire
