from contextlib import contextmanager

import pytest

from brokerweb.up.environment import find_nats
from overlay.runtime.logs.valkey.instance import Instance
from tests.log.live import LiveLog, MockedLog
from tests.log.nats_server import NatsServer
from tests.log.reader import MemoryLog


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
def nats(tmp_path_factory):
    if not find_nats():
        pytest.skip("there is no nats-server (Debian and Ubuntu: apt-get install nats-server)")
    with started(NatsServer(tmp_path_factory.mktemp("nats"))) as server:
        yield server


@pytest.fixture(scope="session")
def kafka():
    pytest.importorskip("confluent_kafka", reason="Kafka's library is not installed: pip install confluent-kafka")
    from tests.log.kafka_mock import KafkaMock

    mock = KafkaMock()
    yield mock
    mock.close()


@pytest.fixture
def live_log(request, monkeypatch):
    """Makes logs of an engine by its name, without members."""
    made = []

    def make(name):
        server = request.getfixturevalue(name)
        if name == "kafka":
            monkeypatch.setattr("overlay.runtime.logs.kafka.group.LEAST_SESSION_S", 0)
        made.append(MockedLog(server) if name == "kafka" else LiveLog(server))
        return made[-1]

    yield make
    for log in made:
        log.close()


@pytest.fixture(params=["memory", "valkey", "nats", "kafka"])
def log(request, live_log):
    """A log of each engine, without members."""
    return MemoryLog() if request.param == "memory" else live_log(request.param)
