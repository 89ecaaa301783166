"""The toy system in the registry, and what stories of the web share."""

import pytest

from overlay.systems.registry import SYSTEMS
from tests.brokerweb.conftest import api, house, operator, ring, supervisor, supervisors  # noqa: F401
from tests.systems.echo import SYSTEM


@pytest.fixture(autouse=True)
def echo(monkeypatch):
    monkeypatch.setitem(SYSTEMS, SYSTEM.name, SYSTEM)
    return SYSTEM
