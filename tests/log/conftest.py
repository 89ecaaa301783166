import pytest

from overlay.runtime.logs.instance import Instance
from tests.log.live import LiveLog
from tests.log.reader import MemoryLog


@pytest.fixture(scope="session")
def valkey(tmp_path_factory):
    instance = Instance(tmp_path_factory.mktemp("valkey"))
    instance.start()
    yield instance
    instance.end()


@pytest.fixture(params=["memory", "valkey"])
def log(request):
    """A log of each engine, without members."""
    log = MemoryLog() if request.param == "memory" else LiveLog(request.getfixturevalue(request.param))
    yield log
    log.close()
