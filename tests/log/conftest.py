from contextlib import contextmanager

import pytest

from brokerweb.up.environment import find_nats
from overlay.runtime.logs.valkey.instance import Instance
from tests.log.live import LiveLog
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


@pytest.fixture(params=["memory", "valkey", "nats"])
def log(request):
    """A log of each engine, without members."""
    log = MemoryLog() if request.param == "memory" else LiveLog(request.getfixturevalue(request.param))
    yield log
    log.close()
