"""Which topics of a deployment there are in a cluster. Those that are missing are made, with their partitions."""

from __future__ import annotations

from concurrent.futures import Executor, Future
from contextlib import suppress

from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from overlay.core.errors import WaxwingError
from overlay.log.spec import LogSpec
from overlay.log.topics import Topic
from overlay.runtime.logs.kafka.cluster import Cluster, Names

ANSWER_S = 5.0
MAKES_S = 30.0


class Topics:
    def __init__(self, cluster: Cluster, names: Names, spec: LogSpec, executor: Executor) -> None:
        self.spec = spec
        self._cluster, self._names, self._executor = cluster, names, executor
        self._known = spec.by_name()
        self._ready: set[str] = set()
        self._wanted: dict[str, None] = {}
        self._job: Future[set[str]] | None = None
        self._admin: AdminClient | None = None

    def topic(self, name: str) -> Topic:
        return self._known.get(name) or Topic(name)

    def are_ready(self, *names: str) -> bool:
        """Whether they exist. Else they are being made, and the question may be asked again. Raises ``WaxwingError`` if
        one has too few partitions."""
        missing = [name for name in names if name not in self._ready]
        self._wanted |= dict.fromkeys(missing)
        return not missing

    def go_on(self) -> None:
        if self._job is not None and self._job.done():
            with suppress(KafkaException):  # the cluster is away
                self._ready |= self._job.result()
            self._job = None
        for name in self._wanted.keys() & self._ready:
            del self._wanted[name]
        if self._job is None and self._wanted:
            self._job = self._executor.submit(self._make, list(self._wanted))

    def _make(self, names: list[str]) -> set[str]:
        """Those that exist now. Raises ``KafkaException``, and ``WaxwingError`` for too few partitions."""
        self._admin = self._admin or AdminClient(self._cluster.config())
        there = {
            name: len(found.partitions) for name, found in self._admin.list_topics(timeout=ANSWER_S).topics.items()
        }
        for name in names:
            has, needs = there.get(self._names.topic(name)), self.topic(name).partitions
            if has is not None and has < needs:
                raise WaxwingError(f"the topic {self._names.topic(name)} has {has} partitions, and {needs} are needed")
        missing = [self._new(self.topic(name)) for name in names if self._names.topic(name) not in there]
        for made in (self._admin.create_topics(missing, operation_timeout=MAKES_S) if missing else {}).values():
            try:
                made.result()
            except KafkaException as error:
                if error.args[0].code() != KafkaError.TOPIC_ALREADY_EXISTS:
                    raise
        return set(names)

    def _new(self, topic: Topic) -> NewTopic:
        config = {"cleanup.policy": "compact"}
        if not topic.is_compacted:
            config = {"cleanup.policy": "delete", "retention.ms": str(round(self.spec.retention_s * 1_000))}
        if self.spec.durability == "always":
            config["flush.messages"] = "1"
        return NewTopic(self._names.topic(topic.name), topic.partitions, replication_factor=-1, config=config)
