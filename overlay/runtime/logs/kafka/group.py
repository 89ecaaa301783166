"""One group of a member: a consumer, whose partitions Kafka gives and takes.

It gets a partition in two steps, since where to begin must be asked::

    assigned by Kafka ── look (in a thread) ──> the member's ── records from its position on
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import Executor, Future
from typing import Any

from confluent_kafka import OFFSET_BEGINNING, OFFSET_INVALID, Consumer, KafkaError, KafkaException, TopicPartition

from overlay.log.groups import Lease
from overlay.log.member import Commit, Held, Member
from overlay.log.node import Start
from overlay.log.topics import Record
from overlay.runtime.logs.background import later
from overlay.runtime.logs.kafka.cluster import Cluster, Names
from overlay.runtime.logs.kafka.looking import Look, look
from overlay.runtime.logs.kafka.topics import Topics
from overlay.runtime.logs.wire import LostConnection

LEAST_SESSION_S = 6.0
"""Clusters accept no shorter time-out of members, unless ``group.min.session.timeout.ms`` is lower."""
MOST_READ = 256
"""Records at once."""
MOST_WAITING = 1_024
"""Records of a partition that wait for the node; the consumer then reads no more of it until a quarter is left."""

Place = tuple[str, int]
"""A topic and a partition."""


class _Read:
    """A partition that is read."""

    def __init__(self, held: Held, until: int) -> None:
        self.held = held
        self.until = until
        """Of a compacted topic: up to here only the newest record of each key counts."""
        self.newest: dict[bytes, Record] = {}
        self.is_paused = False


class Group:
    """The consumer is made when its topics exist."""

    def __init__(
        self, name: str, cluster: Cluster, names: Names, topics: Topics, member: Member, executor: Executor
    ) -> None:
        self.topics: frozenset[str] = frozenset()
        """That the member subscribes to; those of the consumer follow."""
        self.refused = 0
        """Commits."""
        self._name, self._cluster, self._names, self._all = name, cluster, names, topics
        self._member, self._executor = member, executor
        self._consumer: Consumer | None = None
        self._subscribed: frozenset[str] = frozenset()
        self._generation = 0
        self._looking: dict[Place, int] = {}
        """Assigned, and not yet read: the generation."""
        self._jobs: list[Future[dict[TopicPartition, Look]]] = []
        self._reads: dict[Place, _Read] = {}
        self._fatal = ""

    # ---- life

    def go_on(self) -> int:
        """Do what is possible. Returns how many records came. Raises ``LostConnection``: it must begin again."""
        if self.topics != self._subscribed and self._all.are_ready(*self.topics):
            self._subscribe()
        if self._consumer is None:
            return 0
        try:
            found = self._consumer.consume(MOST_READ, 0)
            came = sum(map(self._arrived, found))
            self._begin_reading()
            self._pause_and_resume()
        except (KafkaException, RuntimeError) as error:
            raise LostConnection(str(error)) from None
        if self._fatal:
            raise LostConnection(self._fatal)
        return came

    def commit(self, commits: Sequence[Commit]) -> None:
        offsets = []
        for commit in commits:
            position = commit.position
            read = self._reads.get((position.topic, position.partition))
            if read is None or read.held.generation != commit.generation:
                self.refused += 1
            else:
                offsets.append(self._place(position.topic, position.partition, position.position))
        if offsets and self._consumer is not None:
            try:
                self._consumer.commit(offsets=offsets, asynchronous=True)
            except KafkaException:
                self.refused += len(offsets)

    def end(self) -> Any:
        """At once: the cluster gives its partitions to others when its session is over. Returns the thread that closes
        the consumer, if there is one."""
        consumer, self._consumer = self._consumer, None
        self._subscribed = frozenset()
        self._looking.clear()
        self._reads.clear()
        self._jobs.clear()
        return None if consumer is None else later(consumer.close)

    def _subscribe(self) -> None:
        if self._consumer is None:
            self._consumer = Consumer(self._config())
        self._subscribed = self.topics
        self._consumer.subscribe(
            [self._names.topic(name) for name in sorted(self.topics)],
            on_assign=self._assigned,
            on_revoke=self._revoked,
            on_lost=self._revoked,
        )

    def _config(self) -> dict[str, Any]:
        session_ms = round(1_000 * max(LEAST_SESSION_S, self._all.spec.member_timeout_s))
        return self._cluster.config(
            {
                "group.id": self._names.group(self._name),
                "group.instance.id": self._member.name,
                "partition.assignment.strategy": "cooperative-sticky",
                "session.timeout.ms": session_ms,
                "heartbeat.interval.ms": session_ms // 4,
                "max.poll.interval.ms": session_ms,
                "enable.auto.commit": False,
                "enable.auto.offset.store": False,
                "enable.partition.eof": True,
                "auto.offset.reset": "earliest",
                "fetch.wait.max.ms": 100,
                "queued.max.messages.kbytes": 8_192,
                "on_commit": self._committed,
                "error_cb": self._erred,
            }
        )

    # ---- what Kafka says, during consume

    def _assigned(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        consumer.incremental_assign([])
        if consumer is not self._consumer:
            return
        self._generation += 1
        asked = {}
        for one in partitions:
            name = self._names.known_as(one.topic)
            subscription = self._member.subscriptions.get((self._name, name))
            if subscription is not None and one.partition < self._all.topic(name).partitions:
                self._looking[name, one.partition] = self._generation
                asked[TopicPartition(one.topic, one.partition)] = subscription
        for topic in self.topics:
            self._tell(topic, {})  # without what it had before the cluster was away
        if asked:
            self._jobs.append(self._executor.submit(look, consumer, asked, time.time_ns() // 1_000))

    def _revoked(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        places = [(self._names.known_as(one.topic), one.partition) for one in partitions]
        read = [place for place in places if place in self._reads]
        if consumer is self._consumer:
            for place in places:
                self._looking.pop(place, None)
                self._reads.pop(place, None)
            for topic in {topic for topic, _ in places}:
                self._tell(topic, {})
        consumer.incremental_unassign([self._place(*place) for place in read])

    def _committed(self, error: KafkaError | None, partitions: list[TopicPartition]) -> None:
        if error is not None:
            self.refused += len(partitions)
        else:
            self.refused += sum(one.error is not None for one in partitions)

    def _erred(self, error: KafkaError) -> None:
        if error.fatal():
            self._fatal = error.str()

    # ---- records

    def _begin_reading(self) -> None:
        for job in [job for job in self._jobs if job.done()]:
            self._jobs.remove(job)
            found = {(self._names.known_as(place.topic), place.partition): one for place, one in job.result().items()}
            known = {place: one for place, one in found.items() if place in self._looking}
            for topic in {topic for topic, _ in known}:
                self._tell(topic, {number: one for (name, number), one in known.items() if name == topic})

    def _tell(self, topic: str, looked: dict[int, Look]) -> None:
        """The member owns what it reads, and what was looked up."""
        generations = {number: read.held.generation for (name, number), read in self._reads.items() if name == topic}
        generations |= {number: self._looking.pop((topic, number)) for number in looked}
        about = self._all.topic(topic)
        name = self._member.name
        leases = tuple(
            Lease(name, generations[number]) if number in generations else Lease() for number in range(about.partitions)
        )
        standing = {number: one.standing for number, one in looked.items()}
        for held in self._member.balanced((self._name, topic), leases, standing, time.time_ns() // 1_000):
            one = looked[held.partition]
            is_whole = held.subscription.start is Start.WHOLE
            if is_whole:
                held.next = one.begin
            until = one.standing.end if is_whole and about.is_compacted else 0
            self._reads[topic, held.partition] = _Read(held, until)
            assert self._consumer is not None
            self._consumer.incremental_assign([self._place(topic, held.partition, held.next or OFFSET_BEGINNING)])

    def _arrived(self, message: Any) -> int:
        place = self._names.known_as(message.topic() or ""), message.partition()
        read = self._reads.get(place)
        error = message.error()
        if error is not None:
            if error.code() == KafkaError._PARTITION_EOF:
                if read is not None:
                    self._complete(read)
            elif error.fatal():
                self._fatal = error.str()
            return 0
        if read is None or message.offset() < read.held.next:
            return 0
        appended_us = message.timestamp()[1] * 1_000
        record = Record(*place, message.offset(), message.key() or b"", message.value() or b"", appended_us)
        if record.position < read.until:
            read.newest[record.key] = record
            read.held.next = record.position + 1
            if record.position + 1 >= read.until:
                self._complete(read)
        else:
            self._member.arrived(read.held, [record])
        return 1

    def _complete(self, read: _Read) -> None:
        """All that was there has been read."""
        records = sorted(read.newest.values(), key=lambda record: record.position)
        read.newest, read.until = {}, 0
        self._member.arrived(read.held, records)

    def _pause_and_resume(self) -> None:
        assert self._consumer is not None
        for (topic, number), read in self._reads.items():
            waiting = len(read.held.waiting)
            if not read.is_paused and waiting > MOST_WAITING:
                self._consumer.pause([self._place(topic, number)])
                read.is_paused = True
            elif read.is_paused and waiting <= MOST_WAITING // 4:
                self._consumer.resume([self._place(topic, number)])
                read.is_paused = False

    def _place(self, topic: str, partition: int, offset: int = OFFSET_INVALID) -> TopicPartition:
        return TopicPartition(self._names.topic(topic), partition, offset)
