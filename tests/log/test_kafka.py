"""Kafka as the engine of a log, against librdkafka's mock of a cluster."""

from __future__ import annotations

import pytest

from overlay.core.errors import WaxwingError
from overlay.log.spec import LogSpec
from overlay.log.topics import Topic
from tests.log.live import QUICK, MockedLog
from tests.log.reader import Reader, reads

pytest.importorskip("confluent_kafka", reason="Kafka's library is not installed: pip install confluent-kafka")

from overlay.runtime.logs.kafka.cluster import Cluster, Names, deployment_of


def test_the_address_names_servers_a_login_and_options_of_the_library():
    found = Cluster.of("kafka://me:p%40ss@a,b:7?security.protocol=SASL_SSL&sasl.mechanism=PLAIN")
    assert found.servers == "a:9092,b:7"
    options = {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "PLAIN",
        "sasl.username": "me",
        "sasl.password": "p@ss",
    }
    assert found.config().items() >= options.items()


def test_a_topic_of_a_deployment_is_known_by_its_name():
    name = Names("r 1").topic("gateway.0")
    assert name == "waxwing.r_201.gateway_2e0"
    assert Names("r 1").known_as(name) == "gateway.0"
    assert (deployment_of(name, "gateway.0"), deployment_of(name, "inbound")) == ("r 1", None)


def test_a_topic_with_too_few_partitions_is_refused_and_one_with_more_is_read_in_part(kafka, monkeypatch):
    monkeypatch.setattr("overlay.runtime.logs.kafka.group.LEAST_SESSION_S", 0)
    log = MockedLog(kafka, LogSpec((Topic("letters", 4),), member_timeout_s=QUICK.member_timeout_s))
    for partitions, owned in ((2, 2), (4, 4)):
        log.spec = LogSpec((Topic("letters", partitions),), member_timeout_s=QUICK.member_timeout_s)
        reader = log.start(f"reader-{partitions}", Reader(reads(group=f"group of {partitions}")))
        log.until(lambda reader=reader, owned=owned: len(reader.owned) == owned)
    log.spec = LogSpec((Topic("letters", 8),), member_timeout_s=QUICK.member_timeout_s)
    log.start("reader-8", Reader(reads(group="group of 8")))
    with pytest.raises(WaxwingError, match="has 4 partitions, and 8 are needed"):
        log.until(lambda: False)
    log.close()


def test_an_append_is_sent_again_when_the_cluster_has_lost_it(live_log):
    log = live_log("kafka")
    writer, reader = log.start("writer", Reader()), log.start("reader", Reader(reads()))
    writer.append("a", "1")
    log.until(lambda: writer.durable == ["1"])
    log.ports["writer"]._writing._failed = "as if it had been refused"
    writer.append("a", "2")
    log.until(lambda: writer.durable == ["1", "2"])
    assert log.ports["writer"].counters["log_lost"] == 1
    log.until(lambda: reader.values == ["1", "2"])
