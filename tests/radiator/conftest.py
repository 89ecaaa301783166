"""The system in the registry, for tests of this folder."""

import pytest

from overlay.systems.radiator.system import SYSTEM
from overlay.systems.registry import SYSTEMS


@pytest.fixture
def radiator(monkeypatch):
    monkeypatch.setitem(SYSTEMS, SYSTEM.name, SYSTEM)
    return SYSTEM
