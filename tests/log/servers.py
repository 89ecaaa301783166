"""Servers of each engine of the log, as fixtures: one for all tests of a process."""

from __future__ import annotations

from contextlib import contextmanager

import pytest

from brokerweb.up.environment import find_nats
from overlay.runtime.logs.valkey.instance import Instance
from tests.log.nats_server import NatsServer


@contextmanager
def started(server):
    server.start()
    yield server
    server.end()


@pytest.fixture(scope="session")
def valkey(tmp_path_factory):
    with started(Instance(tmp_path_factory.mktemp("valkey"))) as server:
        yield server


@pytest.fixture(scope="session")
def nats_server(tmp_path_factory):
    if not find_nats():
        pytest.skip("there is no nats-server (Debian and Ubuntu: apt-get install nats-server)")
    with started(NatsServer(tmp_path_factory.mktemp("nats"))) as server:
        yield server


@pytest.fixture
def nats(nats_server):
    nats_server.start_if_ended()
    return nats_server


@pytest.fixture(scope="session")
def kafka():
    pytest.importorskip("confluent_kafka", reason="Kafka's library is not installed: pip install confluent-kafka")
    from tests.log.kafka_mock import KafkaMock

    mock = KafkaMock()
    yield mock
    mock.close()
