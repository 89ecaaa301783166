"""A run of ContextNet in virtual time of which every node is traced, collected, as a row: messages are stored, and the
PoA manager moves nodes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User

from brokerweb.experiments import services as experiments
from brokerweb.experiments.models import Run
from overlay.core.engines import SIMULATED
from overlay.experiment.definition import configurations
from overlay.experiment.sweeps import configuration_hash
from telemetry.lake.runs import RunFiles
from telemetry.systems.contextnet.messages import listed
from tests.pages.recorded import run_it

SETTINGS = {"trace_one_in": 1, "linger_s": 1, "retries": 2, "persistence": 1, "hold_s": 0, "smoothing": 1}
WORKLOAD = {"nodes": 8, "gateways": 2, "direction": "both", "rate_per_min": 20, "messages": 12, "start": "first"}
COMING = {"connect_interval_ms": 10, "disconnecting_share": 0.5, "off_s": 12, "on_s": 6, "gateway_capacity": "8, 8"}


def make_run(owner: User, **more: Any) -> Run:
    body = {
        "name": "Followed from gateway to gateway",
        "system": "contextnet",
        "engine": SIMULATED,
        "settings": SETTINGS,
        "workload": WORKLOAD | COMING,
        **more,
    }
    experiment = experiments.create(body, owner)
    (configuration,) = configurations(experiment.definition, experiments.find_topology)
    run = Run.objects.create(
        experiment=experiment,
        configuration=configuration,
        configuration_hash=configuration_hash(configuration),
        seed="7",
        owner=owner,
    )
    return run_it(run)


def make_driven(owner: User) -> Run:
    """One whose nodes drive over four regions, to which an application sends."""
    groups = {"definers": 1, "groups": 4, "context_change_per_min": 30, "groupcast_per_min": 60}
    drive = {"square_km": 5, "speed_kmh": 120, "disconnecting_share": 0, "start": "spread", "gateway_capacity": "none"}
    return make_run(owner, name="Driven over four regions", workload=WORKLOAD | COMING | groups | drive)


def rows_of(run: Run, **chosen: str) -> list[dict[str, Any]]:
    return listed(RunFiles(Path(settings.RUNS) / run.pk), chosen, 0, 1_000)[1]


def followed(owner: User) -> dict[str, str]:
    """The addresses of such a run, its gateways and messages, and of a message that was stored."""
    run = make_run(owner)
    stored = rows_of(run, show="stored", direction="outbound", outcome="delivered")[0]
    address = f"/runs/{run.pk}/contextnet/"
    return {
        "contextnet-run": f"/runs/{run.pk}/",
        "contextnet-gateways": f"{address}gateways/",
        "contextnet-messages": f"{address}messages/",
        "contextnet-message": f"{address}messages/{stored['id']}/",
        "contextnet-map": f"/runs/{make_driven(owner).pk}/contextnet/map/",
    }
