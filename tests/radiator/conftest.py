"""The system in the registry, for tests of this folder."""

from pathlib import Path

import pytest

from overlay.plugins import VARIABLE
from overlay.runtime.own_supervisor import own_supervisor
from overlay.systems.radiator.system import SYSTEM
from overlay.systems.registry import SYSTEMS
from telemetry.calibration.live import standing

ROOT = Path(__file__).resolve().parents[2]
QUIET = {"clients": 2, "messages_per_s": 0.001, "duration_s": 3_600, "stagger_ms": 0, "drain_s": 0}


@pytest.fixture
def radiator(monkeypatch):
    monkeypatch.setitem(SYSTEMS, SYSTEM.name, SYSTEM)
    return SYSTEM


@pytest.fixture(scope="module")
def server():
    """The address of a server with two clients that only receive."""
    settings = {"aggregability": "{volume: 2}", "chain_percent": 100}
    plugin = {VARIABLE: "overlay.systems.radiator.system:SYSTEM", "PYTHONPATH": str(ROOT)}
    with own_supervisor(**plugin) as client, standing(client, "client", 1, settings, QUIET, "radiator") as (found,):
        yield found.address
