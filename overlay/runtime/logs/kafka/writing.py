"""The appends of a member: an idempotent producer, which repeats what has no answer in its order and without copies."""

from __future__ import annotations

from functools import partial
from typing import Any

from confluent_kafka import Producer

from overlay.log.member import Member
from overlay.log.topics import partition_of
from overlay.runtime.logs.background import later
from overlay.runtime.logs.kafka.cluster import Cluster, Names
from overlay.runtime.logs.kafka.topics import Topics
from overlay.runtime.logs.outbox import Outbox
from overlay.runtime.logs.wire import LostConnection


class Writing:
    def __init__(self, cluster: Cluster, names: Names, topics: Topics, member: Member, outbox: Outbox) -> None:
        self._cluster, self._names, self._topics = cluster, names, topics
        self._member, self._outbox = member, outbox
        self._producer: Producer | None = None
        self._first = self._next = 0
        """Numbers of the oldest append under way, and of the next one."""
        self._durable: set[int] = set()
        """Under way behind others that are not durable: those of other partitions may be quicker."""
        self._failed = ""
        self.written = 0
        """Appends that became durable, so far."""

    def poll(self) -> None:
        """Raises ``LostConnection``: the cluster has refused an append."""
        if self._producer is not None:
            self._producer.poll(0)
        if self._failed:
            raise LostConnection(self._failed)

    def send(self, now: int) -> None:
        for append in self._outbox.leaving(now, self._is_ready):
            topic = self._topics.topic(append.topic)
            if self._producer is None:
                self._producer = self._made()
            done = partial(self._delivered, self._producer, self._next)
            self._next += 1
            place = partition_of(append.key, topic.partitions)
            self._producer.produce(
                self._names.topic(topic.name), append.value, append.key, partition=place, on_delivery=done
            )

    def lost(self) -> None:
        """What is not durable is sent again, from its first on."""
        if self._producer is not None:
            later(self._producer.purge)
            self._producer = None
        self._first, self._failed = self._next, ""
        self._durable.clear()
        self._outbox.again()

    def flush(self, timeout_s: float) -> None:
        if self._producer is not None:
            self._producer.flush(timeout_s)

    def _is_ready(self) -> bool:
        return self._topics.are_ready(self._member.appends[0].topic)

    def _made(self) -> Producer:
        options = {"enable.idempotence": True, "acks": "all", "linger.ms": 1, "message.timeout.ms": 0}
        return Producer(self._cluster.config(options))

    def _delivered(self, producer: Producer, number: int, error: Any, message: Any) -> None:
        if producer is not self._producer:
            return
        if error is not None:
            self._failed = error.str()
            return
        self._durable.add(number)
        while self._first in self._durable:
            self._durable.discard(self._first)
            self._first += 1
            self.written += 1
            self._outbox.durable()
