import pytest

from tests.log.live import QUICK, LiveLog, MockedLog
from tests.log.reader import MemoryLog
from tests.log.servers import kafka, nats, nats_server, valkey

__all__ = ["kafka", "nats", "nats_server", "valkey"]


@pytest.fixture
def live_log(request, monkeypatch):
    """Makes logs of an engine by its name, without members."""
    made = []

    def make(name, spec=QUICK):
        server = request.getfixturevalue(name)
        if name == "kafka":
            monkeypatch.setattr("overlay.runtime.logs.kafka.group.LEAST_SESSION_S", 0)
        made.append(MockedLog(server, spec) if name == "kafka" else LiveLog(server, spec))
        return made[-1]

    yield make
    for log in made:
        log.close()


@pytest.fixture(params=["memory", "valkey", "nats", "kafka"])
def log(request, live_log):
    """A log of each engine, without members."""
    return MemoryLog() if request.param == "memory" else live_log(request.param)
