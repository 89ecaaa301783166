"""Runs of the system ``radiator`` in virtual time, and their facts."""

from __future__ import annotations

from overlay.core.engines import SIMULATED
from overlay.deployment.deployment import Deployment, run_document
from overlay.journal.journal import read_journal
from overlay.sim.engine import journal_path, simulate


def deployed(directory, settings=None, workload=None, *, seed=5, **more):
    configuration = {
        "system": "radiator",
        "topology": {"brokers": 1, "links": []},
        "settings": settings or {},
        "workload": {"clients": 20, "duration_s": 5, "stagger_ms": 1, **(workload or {})},
        **more,
    }
    return Deployment.from_json(run_document(configuration, run="r1", seed=seed, directory=str(directory)), SIMULATED)


def ran(directory, settings=None, workload=None, **more):
    """The outcome of a run, and its facts."""
    outcome = simulate(deployed(directory, settings, workload, **more))
    return outcome, list(read_journal(journal_path(directory)))
