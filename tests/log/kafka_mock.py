"""librdkafka's mock of a cluster: one broker in this process, with groups, in memory. It cannot make topics when asked
by a client, so they are made here; and being down, it keeps what it has."""

from __future__ import annotations

import ctypes
from pathlib import Path
from typing import Any

import confluent_kafka

from overlay.log.topics import Topic
from overlay.runtime.logs.kafka.cluster import Names

_MOST_TEXT = 512
_PRODUCER = 0


def _library() -> ctypes.CDLL:
    folder = Path(confluent_kafka.__file__).parents[1] / "confluent_kafka.libs"
    found = ctypes.CDLL(str(next(folder.glob("librdkafka*"))))
    for name in ("rd_kafka_conf_new", "rd_kafka_new", "rd_kafka_mock_cluster_new"):
        getattr(found, name).restype = ctypes.c_void_p
    found.rd_kafka_mock_cluster_bootstraps.restype = ctypes.c_char_p
    return found


class KafkaMock:
    def __init__(self) -> None:
        self._library = _library()
        conf = ctypes.c_void_p(self._library.rd_kafka_conf_new())
        self._library.rd_kafka_conf_set(conf, b"log_level", b"0", None, 0)
        self._handle = ctypes.c_void_p(self._library.rd_kafka_new(_PRODUCER, conf, None, 0))
        self._cluster = ctypes.c_void_p(self._library.rd_kafka_mock_cluster_new(self._handle, 1))
        self._call("group_initial_rebalance_delay_ms", 50)
        bootstraps = self._library.rd_kafka_mock_cluster_bootstraps(self._cluster)
        self.url = f"kafka://{bootstraps.decode()}"

    def _call(self, what: str, *arguments: Any) -> None:
        getattr(self._library, f"rd_kafka_mock_{what}")(self._cluster, *arguments)

    def prepare(self, deployment: str, topics: tuple[Topic, ...]) -> None:
        for topic in topics:
            self._call("topic_create", Names(deployment).topic(topic.name).encode(), topic.partitions, 1)

    def start(self) -> None:
        self._call("broker_set_up", 1)

    def end(self) -> None:
        self._call("broker_set_down", 1)

    def close(self) -> None:
        self._library.rd_kafka_mock_cluster_destroy(self._cluster)
        self._library.rd_kafka_destroy(self._handle)
