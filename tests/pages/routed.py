"""A run of a federation in virtual time of which every message is traced, collected, as a row."""

from __future__ import annotations

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
from telemetry.systems.federation.messages import listed
from tests.pages.recorded import run_it

SETTINGS = {"trace_one_in": 1, "service_ms": 7, "cache_cap": 0.2}
WORKLOAD = {"providers": 4, "consumers": 3, "scopes": 2, "queries": 60, "rate_per_s": 40}


def make_run(owner: User, record_mb: int = 0, **workload: Any) -> Run:
    body = {
        "name": "Followed from broker to broker",
        "system": "federation",
        "engine": SIMULATED,
        "settings": SETTINGS,
        "workload": {**WORKLOAD, **workload},
        "record_mb": record_mb,
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
    return run_it(run)


def rows_of(run: Run, **chosen: str) -> list[dict[str, Any]]:
    return listed(RunFiles(Path(settings.RUNS) / run.pk), chosen, 0, 1_000)[1]


def followed(owner: User) -> dict[str, str]:
    """The addresses of such a run's messages, of a subscription, a notification and a QUERY between brokers, and of its
    replay."""
    run = make_run(owner, record_mb=8, query_share=0.4, needs=1)
    address = f"/runs/{run.id}/federation/messages/"
    found = {"federation-messages": address, "federation-replay": f"/runs/{run.id}/replay/"}
    for kind in ("subscription", "notification", "query"):
        row = max(rows_of(run, kind=kind), key=lambda row: row["hops"] or row["us"] or 0)
        found[f"federation-{kind}"] = f"{address}{row['id']}/"
    return found
