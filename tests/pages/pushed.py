"""A run of Radiator in virtual time with a chain that is repaired, collected, as rows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User

from brokerweb.experiments import services as experiments
from brokerweb.experiments.models import Experiment, Run
from overlay.core.engines import SIMULATED
from overlay.experiment.definition import configurations
from overlay.experiment.sweeps import configuration_hash
from telemetry.lake.runs import RunFiles
from telemetry.systems.radiator.messages import listed
from tests.pages.recorded import run_it

STORMY = (
    {"what": "crash", "clients": 0.2, "at_s": 0.5, "until_s": 2},
    {"what": "loss", "clients": 1.0, "share": 0.05, "at_s": 0.5, "until_s": 3},
)
SETTINGS = {"aggregability": "{volume: 4}", "chain_percent": 40, "rto_ms": 50, "trace_one_in": 1}
WORKLOAD = {"clients": 20, "messages_per_s": 20, "duration_s": 3, "stagger_ms": 1, "drain_s": 8, "p2p_share": 0.8}


def make_run(owner: User, more: Mapping[str, Any] | None = None, *, is_done: bool = True, **workload: Any) -> Run:
    """Every message of it is traced, and some are retained or were never accepted. Not launched unless ``is_done``."""
    body = {
        "name": "Followed hop by hop",
        "system": "radiator",
        "engine": SIMULATED,
        "settings": {**SETTINGS, **(more or {})},
        "workload": {**WORKLOAD, **workload},
        "faults": list(STORMY),
    }
    experiment: Experiment = experiments.create(body, owner)
    (configuration,) = configurations(experiment.definition, experiments.find_topology)
    run = Run.objects.create(
        experiment=experiment,
        configuration=configuration,
        configuration_hash=configuration_hash(configuration),
        seed="7",
        owner=owner,
    )
    return run_it(run) if is_done else run


def followed(owner: User) -> dict[str, str]:
    """The addresses of such a run's messages, and of one of which a chain was repaired."""
    run = make_run(owner)
    row = max(
        listed(RunFiles(Path(settings.RUNS) / run.pk), "failed", 0, 1_000)[1], key=lambda row: row["propagations"]
    )
    return {"messages": f"/runs/{run.id}/messages/", "message": f"/runs/{run.id}/messages/{row['id']}/"}
