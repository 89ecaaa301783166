"""Runs in virtual time, recorded and collected, as rows: what replay and what-if are shown of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.utils import timezone

from brokerweb.experiments import services as experiments
from brokerweb.experiments.models import Experiment, Run, RunState
from brokerweb.experiments.whatif import what_if
from brokerweb.topologies import services as topologies
from overlay.core.engines import SIMULATED
from overlay.deployment.deployment import Deployment, run_document
from overlay.experiment.definition import configurations
from overlay.experiment.sweeps import configuration_hash
from overlay.sim.engine import simulate
from telemetry.collect import collect
from telemetry.lake.manifest import make_manifest
from telemetry.lake.runs import Lake, RunFiles
from tests.pages.summed_up import summed_up


def make_run(owner: User, record_mb: int = 8, faults: Sequence[Mapping[str, Any]] = ()) -> Run:
    """A run on a ring of six, done."""
    topology = topologies.create(
        name="Ring of six", kind="ring", brokers=6, params={"delay_ms": 4}, seed=1, owner=owner
    )
    body = {
        "name": "Followed message by message",
        "topology": topology.id,
        "engine": SIMULATED,
        "settings": {"trace_one_in": 1, "replication": "none", "walk_policy": "avoid"},
        "workload": {"providers": 3, "entities": 3, "consumers": 6, "request_interval_s": 0.5, "duration_s": 5},
        "faults": list(faults),
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


def run_it(run: Run) -> Run:
    """Simulate and collect it, as the worker would."""
    configuration, files = run.configuration, RunFiles(Path(settings.RUNS) / run.id)
    seed = int(run.seed)
    document = run_document(configuration, run=run.id, seed=seed, directory=str(files.directory))
    simulate(Deployment.from_json(document, SIMULATED))
    parts = {name: configuration[name] for name in ("system", "topology", "settings", "workload")}
    manifest = make_manifest(run.id, seed=seed, **parts, now=timezone.now(), engine=SIMULATED)
    files.write_manifest(manifest)
    summary = collect(files, Lake(Path(settings.LAKE)))
    Run.objects.filter(pk=run.pk).update(
        state=RunState.DONE, progress=1, **summed_up(summary), verdict=summary["verdict"], ended_at=timezone.now()
    )
    run.refresh_from_db()
    return run


FAULTS: tuple[Mapping[str, Any], ...] = (
    {"what": "impaired", "links": [[2, 3]], "delay_ms": 40, "duplication": 0.5, "at_s": 3, "until_s": 4.5},
    {"what": "restart", "brokers": [5], "at_s": 4},
)
"""Late in the run: before them nothing is out of the ordinary."""


def furnish_recorded(owner: User) -> tuple[Run, Run]:
    """A recorded run in which something goes wrong, and the same with one link less."""
    run = make_run(owner, faults=FAULTS)
    return run, run_it(what_if(run, {"cut_link": [0, 1]}, owner))
