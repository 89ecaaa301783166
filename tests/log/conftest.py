import pytest

from tests.log.reader import MemoryLog

ENGINES = {"memory": MemoryLog}


@pytest.fixture(params=ENGINES)
def log(request):
    """A log of each engine, with nobody at it."""
    log = ENGINES[request.param]()
    yield log
    log.close()
