"""Kafka as an engine: opens logs, and says and changes what a cluster has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Final, TypeVar

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from overlay.core.errors import WaxwingError
from overlay.log.node import LogUser
from overlay.log.rights import Granted, Rights
from overlay.log.spec import LogSpec
from overlay.log.topics import Record, partition_of
from overlay.runtime.logs.kafka.cluster import Cluster, Names, deployment_of
from overlay.runtime.logs.kafka.log import KafkaLog
from overlay.runtime.logs.kafka.topics import ANSWER_S
from overlay.runtime.logs.port import LogPort, NoUsers, newest_first

Answer = TypeVar("Answer")

ERASED_S = 2.0
"""A supervisor waits for it."""

_NO_USERS: Final = (
    "Users of Kafka and their rights are those of its cluster: add one for the application there (kafka-acls), and "
    "give it the address with that user."
)


class Kafka:
    """An ``Engine``."""

    def __init__(self, url: str) -> None:
        """Raises ``WaxwingError``."""
        self._cluster = Cluster.of(url)
        try:
            Producer(self._cluster.config())
        except KafkaException as error:  # an option that is none
            raise WaxwingError(f"the address of the log: {error.args[0].str()}") from None
        self.where = self._cluster.servers

    def open(self, spec: LogSpec, deployment: str, name: str, node: LogUser) -> LogPort:
        return KafkaLog(spec, self._cluster, deployment, name, node)

    def erase(self, deployment: str) -> None:
        names, admin = Names(deployment), AdminClient(self._cluster.config())
        topics = [topic for topic in self._topics() if topic.startswith(names.prefix)]
        if topics:
            _all(admin.delete_topics(topics, request_timeout=ERASED_S))
        groups = _answered(admin.list_consumer_groups(request_timeout=ERASED_S).result).valid
        if found := [one.group_id for one in groups if one.group_id.startswith(names.prefix)]:
            _all(admin.delete_consumer_groups(found, request_timeout=ERASED_S))

    def uncommitted(self, deployment: str) -> Iterator[Record]:
        return iter(())

    def grant(self, deployment: str, name: str, rights: Rights) -> Granted:
        raise NoUsers(_NO_USERS)

    def revoke(self, deployment: str, name: str) -> bool:
        raise NoUsers(_NO_USERS)

    def users(self, deployment: str) -> dict[str, Rights]:
        raise NoUsers(_NO_USERS)

    def partitions_read(self, group: str, topic: str, deployment: str = "") -> dict[str, int]:
        """Those of all deployments that have the topic: which groups read it, only Kafka's coordinators know."""
        found = {deployment_of(name, topic): partitions for name, partitions in self._topics().items()}
        known = sorted(name for name in found if name is not None and deployment in ("", name))
        return {name: found[name] for name in known}

    def newest(self, deployment: str, topic: str, partitions: int) -> dict[bytes, bytes]:
        return self._newest(deployment, topic, range(partitions))

    def newest_of(self, deployment: str, topic: str, partitions: int, key: bytes) -> bytes | None:
        return self._newest(deployment, topic, [partition_of(key, partitions)]).get(key)

    def latest(self, deployment: str, topic: str, partitions: int, most: int) -> list[Record]:
        return newest_first(
            Record(
                topic, one.partition(), one.offset(), one.key() or b"", one.value() or b"", one.timestamp()[1] * 1_000
            )
            for one in self._read(deployment, topic, range(partitions), most)
        )

    def append(self, deployment: str, topic: str, partitions: int, key: bytes, value: bytes) -> None:
        producer = Producer(self._cluster.config({"acks": "all", "message.timeout.ms": round(1_000 * ANSWER_S)}))
        errors: list[Any] = []
        producer.produce(
            Names(deployment).topic(topic),
            value,
            key,
            partition=partition_of(key, partitions),
            on_delivery=lambda error, _: errors.append(error),
        )
        producer.flush(ANSWER_S)
        if errors != [None]:
            raise WaxwingError(errors[0].str() if errors else "no answer")

    def forget(self, deployment: str, group: str, topics: Iterable[str]) -> None:
        """A group that still has members stays until its positions expire."""
        names, admin = Names(deployment), AdminClient(self._cluster.config())
        _all(admin.delete_consumer_groups([names.group(group)], request_timeout=ANSWER_S))

    def _topics(self) -> dict[str, int]:
        admin = AdminClient(self._cluster.config())
        found = _answered(lambda: admin.list_topics(timeout=ANSWER_S)).topics
        return {name: len(one.partitions) for name, one in found.items()}

    def _newest(self, deployment: str, topic: str, partitions: Iterable[int]) -> dict[bytes, bytes]:
        return {one.key() or b"": one.value() or b"" for one in self._read(deployment, topic, partitions)}

    def _read(self, deployment: str, topic: str, partitions: Iterable[int], most: int = 0) -> Iterator[Any]:
        """The messages of these partitions, of each at most so many of the newest; 0: all."""
        name = Names(deployment).topic(topic)
        if name not in self._topics():
            return
        options = {"group.id": f"{name}.survey", "enable.auto.commit": False}
        consumer = Consumer(self._cluster.config(options))
        try:
            begins, ends = [], {}
            for number in partitions:
                place = TopicPartition(name, number)
                low, high = _answered(partial(consumer.get_watermark_offsets, place, timeout=ANSWER_S))
                if high > low:
                    ends[number] = high
                    begins.append(TopicPartition(name, number, max(low, high - most) if most else OFFSET_BEGINNING))
            consumer.assign(begins)
            while ends:
                message: Any = consumer.poll(ANSWER_S)
                if message is None or message.error() is not None:
                    raise WaxwingError("no answer" if message is None else message.error().str())
                yield message
                if message.offset() + 1 >= ends.get(message.partition(), 0):
                    ends.pop(message.partition(), None)
        finally:
            consumer.close()


def _answered(ask: Callable[[], Answer]) -> Answer:
    """Raises ``WaxwingError``."""
    try:
        return ask()
    except KafkaException as error:
        raise WaxwingError(error.args[0].str()) from None


def _all(futures: dict[Any, Any]) -> None:
    for one in futures.values():
        _answered(one.result)
