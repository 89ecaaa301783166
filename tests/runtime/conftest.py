from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.runtime.daemons import Daemon
from tests.runtime.hosts import Host


@pytest.fixture
def start_daemon() -> Iterator[Callable[..., Daemon]]:
    """Starts ``Daemon(...)`` and ends all of them after the test."""
    daemons: list[Daemon] = []

    def start(*flags: str, **options: object) -> Daemon:
        daemons.append(Daemon(*flags, **options))
        return daemons[-1]

    yield start
    for daemon in daemons:
        daemon.end()


@pytest.fixture
def daemon(start_daemon: Callable[..., Daemon]) -> Daemon:
    return start_daemon()


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    """One supervisor and its client."""
    host = Host(tmp_path).start()
    yield host
    if host.process.poll() is None:
        host.end()
    host.process.stderr.close()
