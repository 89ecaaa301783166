"""A bug of one system ends its own deployment with a reason, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from overlay.plugins import VARIABLE
from overlay.runtime.own_supervisor import document_of, own_supervisor
from overlay.systems.registry import SYSTEMS
from tests.systems.faulty import FaultyPlans
from tests.waiting import wait_for

ROOT = str(Path(__file__).resolve().parents[2])
TOYS = "tests.systems.echo:SYSTEM,tests.systems.faulty:SERVERS,tests.systems.faulty:ORDERS,tests.systems.faulty:PINGS"


@pytest.mark.parametrize(
    ("system", "reason"),
    [
        ("faulty-servers", "a bug in a server"),
        ("faulty-orders", "a bug in an assembly"),
        ("faulty-pings", "a bug in a ping"),
    ],
)
def test_the_supervisor_survives_and_runs_other_systems(tmp_path, system, reason):
    with own_supervisor(**{VARIABLE: TOYS, "PYTHONPATH": ROOT}) as client:

        def end_of(name, of):
            workload = {"callers": 1, "duration_s": 1.0}
            document = document_of(name, tmp_path / name, brokers=1, settings={}, workload=workload, seed=5, system=of)
            if of == "faulty-pings":  # servers of runs are not pinged
                document |= {"kind": "network", "workload": None, "lease_s": None}
            client.deploy(document)
            return wait_for(lambda: ended(name), f"{name} ends")

        def ended(name):
            status = client.status(name)
            return status["phase"] in ("finished", "failed", "stopped") and status

        broken = end_of("broken", system)
        assert (broken["phase"], reason in broken["reason"]) == ("failed", True), broken["reason"]
        assert end_of("sound", "echo")["phase"] == "finished"


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["", "estimate/"])
def test_a_bug_in_a_check_is_a_sentence(api, ring, monkeypatch, path):
    monkeypatch.setitem(SYSTEMS, FaultyPlans.name, FaultyPlans())
    body = {"name": "e", "system": "faulty-plans", "topology": ring["id"]}
    answer = api.post(f"/api/experiments/{path}", body, format="json")
    assert (answer.status_code, answer.json()["field"]) == (400, "system")
    assert answer.json()["sentence"] == "faulty-plans failed: ZeroDivisionError: a bug in a plan"
