from collections.abc import Callable, Iterator

import pytest

from tests.runtime.daemons import Daemon


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
